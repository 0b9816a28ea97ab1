/**
 * Writes produced lines to the log: the first one at once, later ones in batches, 50 ms apart.
 * - Lines are written in order, and each once: a write states how many lines precede it.
 * - Code that produces lines faster than the store accepts them has to wait.
 */
import type { ProducedLine } from '../core/thread/producer.ts';
import { RuntimeError } from '../core/value/error.ts';
import { LIMITS } from '../core/value/limit.ts';

const WRITE_INTERVAL_MS = 50;
/** Most lines that may be waiting to be written. */
const MAX_WAITING_LINES = 1000;
/** Types that report the beginning and the end of an execution: its producer may not emit them. */
const RESERVED_TYPES = /^(execution|session\.run)\./;

/** Returns false if no more lines are accepted. */
export type WriteLines = (from: number, lines: readonly ProducedLine[]) => Promise<boolean>;

export class LineWriter {
  readonly #write: WriteLines;
  #waiting: ProducedLine[] = [];
  #written = 0;
  #writing: Promise<void> | undefined;
  #wake = Promise.withResolvers<void>();
  #failure: unknown;

  constructor(write: WriteLines) {
    this.#write = write;
  }

  /**
   * Resolves when more lines may follow. Throws `InvalidValue` for an invalid line, and the error that a write has
   * failed with.
   */
  async push(line: ProducedLine): Promise<void> {
    this.#waiting.push(toLine(line));
    this.#writing ??= this.#drain();
    if (this.#waiting.length >= MAX_WAITING_LINES) await this.finish();
    if (this.#failure) throw this.#failure;
  }

  /** Resolves once all lines are written. Throws the error that a write has failed with. */
  async finish(): Promise<void> {
    this.#wake.resolve();
    await this.#writing;
    this.#wake = Promise.withResolvers();
    if (this.#failure) throw this.#failure;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const lines = this.#waiting;
        this.#waiting = [];
        if (!(await this.#write(this.#written, lines)))
          throw new RuntimeError('ProducerLost', 'The execution has ended: no more lines are accepted.');
        this.#written += lines.length;
        await this.#pause();
      }
    } catch (error) {
      this.#failure = error;
    } finally {
      this.#writing = undefined;
    }
  }

  async #pause(): Promise<void> {
    const paused = Promise.withResolvers<void>();
    const timer = setTimeout(paused.resolve, WRITE_INTERVAL_MS);
    await Promise.race([paused.promise, this.#wake.promise]);
    clearTimeout(timer);
  }
}

/** Checks a line, and returns it as JSON would transfer it. */
function toLine(line: ProducedLine): ProducedLine {
  const { type, data } = line ?? {};
  if (typeof type !== 'string' || type === '' || RESERVED_TYPES.test(type))
    throw invalid(
      `${JSON.stringify(type)} cannot be the type of a line: it must be a non-empty string, and "execution.…" and ` +
        '"session.run.…" are reserved.',
    );
  const json = JSON.stringify({ type, data });
  if (json.length > LIMITS.contentBytes)
    throw invalid(
      `A line of the type "${type}" has ${json.length} characters; at most ${LIMITS.contentBytes} are allowed.`,
    );
  return JSON.parse(json) as ProducedLine;
}

function invalid(message: string): RuntimeError {
  return new RuntimeError('InvalidValue', message);
}
