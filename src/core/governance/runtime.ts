/**
 * How long a family works: the time during which any of its threads is at work, even if workers are lost or replaced.
 * Pure; times are microseconds since 1970, by the clock of the store.
 * - The clock of a limit runs while at least one thread is at work, and is counted once, however many are.
 * - A thread that waits for people, or for a child that works in its place, is not at work.
 */
import { isNear } from './budget.ts';
import type { Amount, CountedLine } from './budget-amount.ts';

const MICROS_PER_MS = 1000n;

export function isTime({ limit }: Pick<CountedLine, 'limit'>): boolean {
  return limit === 'maxRuntimeSeconds';
}

/** Returns the line as of `now`. */
export function withElapsed(line: CountedLine, now: number): CountedLine {
  const { running, ...known } = line;
  return running ? { ...known, used: line.used + BigInt(Math.max(0, now - running.since)) } : known;
}

/** Rounded to the millisecond, as people read it. */
export function toMilliseconds(used: Amount): Amount {
  return ((used + MICROS_PER_MS / 2n) / MICROS_PER_MS) * MICROS_PER_MS;
}

/** Marks the thread as at work. Returns the same line if it already is. */
export function startThreadClock(line: CountedLine, threadId: string, now: number): CountedLine {
  const { since = now, threads = [] } = line.running ?? {};
  return threads.includes(threadId) ? line : { ...line, running: { since, threads: [...threads, threadId] } };
}

/** Marks the thread as not at work. Returns the same line if it is not. */
export function stopThreadClock(line: CountedLine, threadId: string, now: number): CountedLine {
  const { running } = line;
  if (!running?.threads.includes(threadId)) return line;
  const threads = running.threads.filter((each) => each !== threadId);
  if (threads.length > 0) return { ...line, running: { ...running, threads } };
  return withElapsed(line, now);
}

/** Milliseconds until the first time limit is reached; undefined if no line limits time. */
export function leftMs(lines: readonly CountedLine[], now: number): number | undefined {
  const left = lines.filter(isTime).map((line) => Number(line.max - withElapsed(line, now).used) / 1000);
  return left.length === 0 ? undefined : Math.max(0, Math.ceil(Math.min(...left)));
}

/** Returns a line whose time is used up; nothing may work then. */
export function findTimeUp(lines: readonly CountedLine[], now: number): CountedLine | undefined {
  return lines
    .filter(isTime)
    .map((line) => withElapsed(line, now))
    .find(({ used, max }) => used >= max);
}

export function nearsEnd(line: CountedLine, now: number): boolean {
  return isTime(line) && !line.warned && isNear(withElapsed(line, now));
}
