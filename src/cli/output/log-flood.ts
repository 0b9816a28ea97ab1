/**
 * Keeps a log readable, and its disk free, when one failure repeats ten thousand times. Pure: the time is an argument.
 * - The first twenty entries of a kind in an interval are written unchanged; one line counts the rest, and their
 *   threads. Level, part, and message without its numbers and ids make a kind. No entry goes uncounted.
 * - Memory is bounded: kinds beyond a thousand share one count, and threads beyond a thousand are not told apart.
 */

export const INTERVAL_MS = 10_000;
const MAX_LOGGED_IN_FULL = 20;
const MAX_KINDS = 1000;
const MAX_THREADS = 1000;
const MAX_THREADS_NAMED = 5;
const OTHER_KINDS = 'entries of many kinds';

export interface FloodEntry {
  readonly level: string;
  readonly message: string;
  /** The part of the program that logs. */
  readonly part?: string;
  /** The thread that it is about. */
  readonly thread?: string;
}

/** Summary of the suppressed entries of one kind. */
export interface FloodSummary {
  readonly level: string;
  /** The last suppressed entry. */
  readonly message: string;
  readonly repeated: number;
  /** Number of threads, with "+" if there may be more. */
  readonly threads: string;
  readonly among: readonly string[];
}

interface Kind {
  readonly since: number;
  told: number;
  held: FloodEntry | undefined;
  count: number;
  readonly threads: Set<string>;
}

export class LogFlood {
  readonly #kinds = new Map<string, Kind>();
  readonly #intervalMs: number;
  #lastCleanup = Number.NEGATIVE_INFINITY;

  constructor(intervalMs = INTERVAL_MS) {
    this.#intervalMs = intervalMs;
  }

  /** True if this entry is written now. */
  admit(entry: FloodEntry, now: number): boolean {
    const kind = this.#kindOf(entry, now);
    if (kind.told < MAX_LOGGED_IN_FULL) {
      kind.told += 1;
      return true;
    }
    kind.held = entry;
    kind.count += 1;
    if (entry.thread !== undefined && kind.threads.size < MAX_THREADS) kind.threads.add(entry.thread);
    return false;
  }

  /** True if `collect` has counts to report. */
  get holds(): boolean {
    return [...this.#kinds.values()].some(({ held }) => held !== undefined);
  }

  /** Returns the counts that are due, or all counts if no time is given, and starts their kinds again from zero. */
  collect(now = Number.POSITIVE_INFINITY): FloodSummary[] {
    const due = [...this.#kinds].filter(([, kind]) => this.#isOver(kind, now));
    for (const [key] of due) this.#kinds.delete(key);
    return due.flatMap(([key, kind]) => (kind.held ? [summarize(key, kind, kind.held)] : []));
  }

  #kindOf(entry: FloodEntry, now: number): Kind {
    const own = `${entry.level} ${entry.part ?? ''} ${messageTemplate(entry.message)}`;
    if (this.#kinds.size >= MAX_KINDS) this.#forget(now);
    const key = this.#kinds.has(own) || this.#kinds.size < MAX_KINDS ? own : `${entry.level} ${OTHER_KINDS}`;
    const found = this.#kinds.get(key);
    // A kind with a pending count is kept until that count is reported.
    if (found && (found.held || !this.#isOver(found, now))) return found;
    const kind: Kind = { since: now, told: 0, held: undefined, count: 0, threads: new Set() };
    this.#kinds.set(key, kind);
    return kind;
  }

  #isOver({ since }: Kind, now: number): boolean {
    return now - since >= this.#intervalMs;
  }

  /** Forgets kinds whose interval is over. */
  #forget(now: number): void {
    // Checked at most once per interval, because many kinds may appear quickly.
    if (now - this.#lastCleanup < this.#intervalMs) return;
    this.#lastCleanup = now;
    for (const [key, kind] of this.#kinds) if (!kind.held && this.#isOver(kind, now)) this.#kinds.delete(key);
  }
}

/** The constant part of a message, the same for all messages of its kind. */
function messageTemplate(message: string): string {
  return message
    .slice(0, 500)
    .replaceAll(/"[^"]*"|'[^']*'/g, '…')
    .replaceAll(/[\w-]*\d[\w-]*/g, '#');
}

function summarize(key: string, kind: Kind, last: FloodEntry): FloodSummary {
  const among = [...kind.threads].slice(0, MAX_THREADS_NAMED);
  return {
    level: last.level,
    message: key.endsWith(OTHER_KINDS) ? OTHER_KINDS : last.message,
    repeated: kind.count,
    threads: `${kind.threads.size}${kind.threads.size < MAX_THREADS ? '' : '+'}`,
    among,
  };
}
