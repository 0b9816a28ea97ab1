/**
 * How long a family works: the time during which any of its threads is at work, even if workers are lost or replaced.
 * Pure; times are microseconds since 1970, by the clock of the store.
 * C1. The clock of a limit runs while at least one thread is at work, and is counted once, however many are.
 * C2. A thread that waits for people, or for a child that works in its place, is not at work.
 */
import { type BudgetLine, isNear } from './budget.ts';

const MICROS_PER_SECOND = 1_000_000;

export function isTime({ limit }: Pick<BudgetLine, 'limit'>): boolean {
  return limit === 'maxRuntimeSeconds';
}

/** Returns the line as of `now`: `used` in seconds. */
export function withElapsed(line: BudgetLine, now: number): BudgetLine {
  const { running, ...known } = line;
  return running
    ? { ...known, used: line.used + Math.max(0, now - running.since) / MICROS_PER_SECOND }
    : known;
}

/** C1: marks the thread as at work. Returns the same line if it already is. */
export function startThreadClock(line: BudgetLine, threadId: string, now: number): BudgetLine {
  const { since = now, threads = [] } = line.running ?? {};
  return threads.includes(threadId) ? line : { ...line, running: { since, threads: [...threads, threadId] } };
}

/** C2: marks the thread as not at work. Returns the same line if it is not. */
export function stopThreadClock(line: BudgetLine, threadId: string, now: number): BudgetLine {
  const { running } = line;
  if (!running?.threads.includes(threadId)) return line;
  const threads = running.threads.filter((each) => each !== threadId);
  if (threads.length > 0) return { ...line, running: { ...running, threads } };
  const { used, ...stopped } = withElapsed(line, now);
  return { ...stopped, used: Number(used.toFixed(6)) };
}

/** Milliseconds until the first time limit is reached; undefined if no line limits time. */
export function leftMs(lines: readonly BudgetLine[], now: number): number | undefined {
  const left = lines.filter(isTime).map((line) => (line.max - withElapsed(line, now).used) * 1000);
  return left.length === 0 ? undefined : Math.max(0, Math.ceil(Math.min(...left)));
}

/** Returns a line whose time is used up; nothing may work then. */
export function findTimeUp(lines: readonly BudgetLine[], now: number): BudgetLine | undefined {
  return lines
    .filter(isTime)
    .map((line) => withElapsed(line, now))
    .find(({ used, max }) => used >= max);
}

export function nearsEnd(line: BudgetLine, now: number): boolean {
  return isTime(line) && !line.warned && isNear(withElapsed(line, now));
}
