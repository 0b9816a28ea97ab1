/**
 * Counts that were made a moment ago, for pages that ask again with each change: counting costs the more the more
 * threads there are, and may take a tenth of the time at most.
 * - A count is used again until its age is nine times what it took, at most ten seconds: of a few thousand threads that
 *   is some milliseconds. Requests that come meanwhile share one count.
 */
import type { ThreadCounts } from '../../store/thread/thread-record.ts';

const AGE_PER_COST = 9;
const MAX_AGE_MS = 10_000;
/** Different questions that are remembered; the oldest is forgotten first. */
const MAX_QUESTIONS = 200;

interface RecentCount {
  readonly counts: Promise<ThreadCounts>;
  /** When it may no longer be used, by a monotonic clock; not known while it is made. */
  usableUntil: number;
}

/** Returns the counts for a question, which `count` answers. */
export type CountOnce = (question: object, count: () => Promise<ThreadCounts>) => Promise<ThreadCounts>;

export function rememberCounts(): CountOnce {
  const known = new Map<string, RecentCount>();
  return (question, count) => {
    const key = JSON.stringify(question);
    const found = known.get(key);
    if (found && performance.now() < found.usableUntil) return found.counts;
    const begun = performance.now();
    const made: RecentCount = { counts: count(), usableUntil: Number.POSITIVE_INFINITY };
    const over = () => {
      const now = performance.now();
      made.usableUntil = now + Math.min((now - begun) * AGE_PER_COST, MAX_AGE_MS);
    };
    made.counts.then(over, () => known.delete(key));
    known.delete(key);
    known.set(key, made);
    const [oldest = key] = known.keys();
    if (known.size > MAX_QUESTIONS) known.delete(oldest);
    return made.counts;
  };
}
