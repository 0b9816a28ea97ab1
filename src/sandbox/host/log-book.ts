/**
 * The console output of a run: the newest entries, within bounds, and a note if older ones were dropped. Entries are
 * measured but not decoded until the end: dropped ones were never more than text, and nothing refers to them.
 */
import type { CodeExecutionLog } from '../../core/author/code-execution.ts';
import { estimateMemory, type Wire } from '../codec/wire.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { LOG_LEVELS } from '../protocol.ts';
import type { Account } from './ledger.ts';

interface Entry {
  readonly level: CodeExecutionLog['level'];
  readonly timestamp: number;
  readonly bytes: number;
  /** The undecoded entry, or a text of the host. */
  readonly said: Wire | string;
}

/** Memory of an entry beside its arguments, in bytes. */
const ENTRY_BYTES = 256;
const TOO_LARGE = '[an entry too large to be kept]';
const UNREADABLE = '[an entry that cannot be read]';

export class LogBook {
  readonly #account: Account;
  /** Ring buffer: the oldest entry is at `#first`. */
  readonly #ring: (Entry | undefined)[] = [];
  #first = 0;
  #count = 0;
  #bytes = 0;
  #dropped = 0;

  constructor(account: Account) {
    this.#account = account;
  }

  /** Adds an entry from the sandbox. */
  add(level: number, wire: Wire): void {
    const bytes = estimateMemory(wire) + ENTRY_BYTES;
    const fits = bytes <= SANDBOX_LIMITS.logBytes;
    this.#push(LOG_LEVELS[level] ?? 'log', fits ? wire : TOO_LARGE, fits ? bytes : ENTRY_BYTES);
  }

  /** Adds an entry of the host: never refused. */
  note(level: CodeExecutionLog['level'], text: string): void {
    this.#push(level, text.slice(0, SANDBOX_LIMITS.errorMessageLength), 0);
  }

  /** Returns the entries, decoded by `read`, which throws for one that cannot be read. */
  entries(read: (wire: Wire) => unknown): readonly CodeExecutionLog[] {
    const entries: CodeExecutionLog[] = [];
    for (let at = 0; at < this.#count; at += 1) entries.push(toLog(this.#at(at) as Entry, read));
    if (this.#dropped === 0) return entries;
    const args = [`${this.#dropped} earlier log entries were dropped.`];
    return [{ level: 'warn', args, timestamp: entries[0]?.timestamp ?? Date.now() }, ...entries];
  }

  #at(index: number): Entry | undefined {
    return this.#ring[(this.#first + index) % SANDBOX_LIMITS.logEntries];
  }

  #push(level: CodeExecutionLog['level'], entry: Wire | string, bytes: number): void {
    const { logEntries, logBytes } = SANDBOX_LIMITS;
    while (this.#count === logEntries || (this.#count > 0 && this.#bytes + bytes > logBytes)) this.#drop();
    this.#account.hold(bytes);
    this.#ring[(this.#first + this.#count) % logEntries] = {
      level,
      timestamp: Date.now(),
      bytes,
      said: entry,
    };
    this.#count += 1;
    this.#bytes += bytes;
  }

  #drop(): void {
    const { bytes } = this.#at(0) as Entry;
    this.#ring[this.#first] = undefined;
    this.#first = (this.#first + 1) % SANDBOX_LIMITS.logEntries;
    this.#count -= 1;
    this.#bytes -= bytes;
    this.#dropped += 1;
    this.#account.release(bytes);
  }
}

function toLog({ level, timestamp, said }: Entry, read: (wire: Wire) => unknown): CodeExecutionLog {
  return { level, args: typeof said === 'string' ? [said] : readArgs(said, read), timestamp };
}

function readArgs(wire: Wire, read: (wire: Wire) => unknown): readonly unknown[] {
  try {
    const args = read(wire);
    return Array.isArray(args) ? args : [UNREADABLE];
  } catch {
    return [UNREADABLE];
  }
}
