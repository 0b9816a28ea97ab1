/**
 * How long a family works: the time during which any of its threads is at work, whatever becomes of workers meanwhile. Pure; times are
 * microseconds since 1970, by the clock of the store.
 * C1. The clock of a limit runs while one thread at least is at work, and is counted once, however many are.
 * C2. A thread that waits for people, or for a child that works in its place, is not at work.
 */
import { type BudgetLine, isNear } from './budget.ts';

const SECOND = 1_000_000;

export function isTime({ limit }: Pick<BudgetLine, 'limit'>): boolean {
  return limit === 'maxRuntimeSeconds';
}

/** The line as it stands now: `used` in seconds. */
export function atTime(line: BudgetLine, now: number): BudgetLine {
  const { running, ...known } = line;
  return running ? { ...known, used: line.used + Math.max(0, now - running.since) / SECOND } : known;
}

/** C1: the thread is at work. The same line where it was already. */
export function enter(line: BudgetLine, threadId: string, now: number): BudgetLine {
  const { since = now, threads = [] } = line.running ?? {};
  return threads.includes(threadId) ? line : { ...line, running: { since, threads: [...threads, threadId] } };
}

/** C2: it is not, or not any more. The same line where it was not. */
export function leave(line: BudgetLine, threadId: string, now: number): BudgetLine {
  const { running } = line;
  if (!running?.threads.includes(threadId)) return line;
  const threads = running.threads.filter((each) => each !== threadId);
  if (threads.length > 0) return { ...line, running: { ...running, threads } };
  const { used, ...stopped } = atTime(line, now);
  return { ...stopped, used: Number(used.toFixed(6)) };
}

/** What is left of the one that ends first; undefined where none limits time. */
export function leftMs(lines: readonly BudgetLine[], now: number): number | undefined {
  const left = lines.filter(isTime).map((line) => (line.max - atTime(line, now).used) * 1000);
  return left.length === 0 ? undefined : Math.max(0, Math.ceil(Math.min(...left)));
}

/** The one whose time is up: with nothing left, nothing can work. */
export function timeUp(lines: readonly BudgetLine[], now: number): BudgetLine | undefined {
  return lines
    .filter(isTime)
    .map((line) => atTime(line, now))
    .find(({ used, max }) => used >= max);
}

export function nearsEnd(line: BudgetLine, now: number): boolean {
  return isTime(line) && !line.warned && isNear(atTime(line, now));
}
