/**
 * Lines on their way to the log: the first one at once, those behind it together, 50 ms apart.
 * L1. In order, and each once: what the store has of them is counted.
 * L2. Whoever tells more than the store takes waits.
 */
import type { ProducedLine } from '../core/thread/producer.ts';
import { RuntimeError } from '../core/value/error.ts';
import { LIMITS } from '../core/value/limit.ts';

const APART_MS = 50;
/** Lines that may wait. */
const MOST = 1000;
/** They say that an execution begins and ends, which is not for who produces it to say. */
const ENVELOPE = /^(execution|session\.run)\./;

/** False: nothing more is taken. */
export type WriteLines = (from: number, lines: readonly ProducedLine[]) => Promise<boolean>;

export class LineWriter {
  readonly #write: WriteLines;
  #waiting: ProducedLine[] = [];
  #written = 0;
  #writing: Promise<void> | undefined;
  #hurry = Promise.withResolvers<void>();
  #failure: unknown;

  constructor(write: WriteLines) {
    this.#write = write;
  }

  /** Resolves when more may come (L2). Throws `InvalidValue` for what is no line, and what writing has failed with. */
  async push(line: ProducedLine): Promise<void> {
    this.#waiting.push(toLine(line));
    this.#writing ??= this.#drain();
    if (this.#waiting.length >= MOST) await this.finish();
    if (this.#failure) throw this.#failure;
  }

  /** All is written. Throws what writing has failed with. */
  async finish(): Promise<void> {
    this.#hurry.resolve();
    await this.#writing;
    this.#hurry = Promise.withResolvers();
    if (this.#failure) throw this.#failure;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const lines = this.#waiting;
        this.#waiting = [];
        if (!(await this.#write(this.#written, lines)))
          throw new RuntimeError('ProducerLost', 'The execution is over: nothing more is taken of it.');
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
    const timer = setTimeout(paused.resolve, APART_MS);
    await Promise.race([paused.promise, this.#hurry.promise]);
    clearTimeout(timer);
  }
}

/** As JSON has it. */
function toLine(line: ProducedLine): ProducedLine {
  const { type, data } = line ?? {};
  if (typeof type !== 'string' || type === '' || ENVELOPE.test(type))
    throw invalid(
      `A line has a type of its own, not ${JSON.stringify(type)}: "execution.…" and "session.run.…" are told for it.`,
    );
  const json = JSON.stringify({ type, data });
  if (json.length > LIMITS.contentBytes)
    throw invalid(
      `A line of the type "${type}" has ${json.length} characters; at most ${LIMITS.contentBytes} are taken.`,
    );
  return JSON.parse(json) as ProducedLine;
}

function invalid(message: string): RuntimeError {
  return new RuntimeError('InvalidValue', message);
}
