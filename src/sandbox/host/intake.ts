/**
 * What one child says during a run, as it is taken in.
 * T1. What was taken is told back, and the sandbox goes on speaking only then; a child that speaks on all the same is refused.
 * T2. Reading takes this process's one thread. Whoever makes it read for long is told later that it was taken: of that thread a
 *     run has a quarter at the most, whatever it sends.
 * T3. Nothing of a child is read past what one transfer may hold and may take to read.
 */
import { decode } from '../codec/decode.ts';
import { type FunctionTable, type Wire, wireBytes } from '../codec/wire.ts';
import { SANDBOX_LIMITS, TRANSFER } from '../limits.ts';

export interface Taken {
  readonly count: number;
  readonly bytes: number;
}

/** How much may be taken from a child before it is told so. */
const TOLD_MESSAGES = 32;
const TOLD_BYTES = 256 * 1024;
/** T2: after each millisecond of reading so many of rest. */
const REST = 3;
const SHORTEST_REST_MS = 5;
const LONGEST_REST_MS = 10_000;

const FROM_CHILD = {
  ...TRANSFER,
  work: {
    freeMs: SANDBOX_LIMITS.transferFreeMs,
    msPerElement: SANDBOX_LIMITS.transferMsPerElement,
    /** Processor time: a busy machine makes nobody's transfer one that cannot be read. */
    spentMs() {
      const { user, system } = process.threadCpuUsage();
      return (user + system) / 1000;
    },
  },
};

export class Intake {
  readonly #tell: (taken: Taken) => void;
  #taken: Taken = NOTHING;
  #restUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(tell: (taken: Taken) => void) {
    this.#tell = tell;
  }

  /** T3. Throws for what cannot be read. */
  read(wire: Wire, functionTable?: FunctionTable): unknown {
    const begun = performance.now();
    try {
      return decode(wire, functionTable, FROM_CHILD);
    } finally {
      const ended = performance.now();
      this.#restUntil = Math.min(
        Math.max(this.#restUntil, ended) + REST * (ended - begun),
        ended + LONGEST_REST_MS,
      );
    }
  }

  /** T1. Once for each message that the sandbox waits to be taken. */
  take(wire: Wire): void {
    if (this.#closed) return;
    const { count, bytes } = this.#taken;
    this.#taken = { count: count + 1, bytes: bytes + wireBytes(wire) };
    const { untakenBytes, untakenMessages } = SANDBOX_LIMITS;
    if (this.#taken.count > untakenMessages || this.#taken.bytes > untakenBytes)
      throw new Error('it speaks on without waiting to be heard');
    if (this.#taken.count < TOLD_MESSAGES && this.#taken.bytes < TOLD_BYTES) return;
    const rest = this.#restUntil - performance.now();
    if (rest < SHORTEST_REST_MS) this.#tellNow();
    else this.#timer ??= setTimeout(() => this.#tellNow(), rest);
  }

  /** Nothing is told any more. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #tellNow(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const taken = this.#taken;
    this.#taken = NOTHING;
    this.#tell(taken);
  }
}

const NOTHING: Taken = { count: 0, bytes: 0 };
