/**
 * Flow control for the messages of one child during a run.
 * - Processed messages are acknowledged, and the sandbox sends more only then; a child that does not wait is refused.
 * - A run takes at most a quarter of this process's one thread for reading, whatever it sends. The longer reading
 *   takes, the later messages are acknowledged.
 * - No transfer from a child is read beyond the limits of its size and of the time to read it.
 */
import { decode } from '../codec/decode.ts';
import { type FunctionTable, type Wire, wireBytes } from '../codec/wire.ts';
import { SANDBOX_LIMITS, TRANSFER } from '../limits.ts';

export interface Taken {
  readonly count: number;
  readonly bytes: number;
}

/** How much is processed before an acknowledgement is sent. */
const ACK_MESSAGES = 32;
const ACK_BYTES = 256 * 1024;
/** Milliseconds of pause per millisecond of reading. */
const REST_FACTOR = 3;
const MIN_REST_MS = 5;
const MAX_REST_MS = 10_000;

const FROM_CHILD = {
  ...TRANSFER,
  work: {
    freeMs: SANDBOX_LIMITS.transferFreeMs,
    msPerElement: SANDBOX_LIMITS.transferMsPerElement,
    /** CPU time of this thread in milliseconds: a busy machine must not make a transfer fail. */
    spentMs() {
      const { user, system } = process.threadCpuUsage();
      return (user + system) / 1000;
    },
  },
};

export class Intake {
  readonly #acknowledge: (taken: Taken) => void;
  #taken: Taken = NOTHING_TAKEN;
  #restUntil = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(acknowledge: (taken: Taken) => void) {
    this.#acknowledge = acknowledge;
  }

  /** Decodes a value. Throws if it cannot be read. */
  read(wire: Wire, functionTable?: FunctionTable): unknown {
    const begun = performance.now();
    try {
      return decode(wire, functionTable, FROM_CHILD);
    } finally {
      const ended = performance.now();
      this.#restUntil = Math.min(
        Math.max(this.#restUntil, ended) + REST_FACTOR * (ended - begun),
        ended + MAX_REST_MS,
      );
    }
  }

  /** Counts a processed message. Call it once for each that the sandbox expects an acknowledgement for. */
  take(wire: Wire): void {
    if (this.#closed) return;
    const { count, bytes } = this.#taken;
    this.#taken = { count: count + 1, bytes: bytes + wireBytes(wire) };
    const { untakenBytes, untakenMessages } = SANDBOX_LIMITS;
    if (this.#taken.count > untakenMessages || this.#taken.bytes > untakenBytes)
      throw new Error('it sends without waiting for acknowledgements');
    if (this.#taken.count < ACK_MESSAGES && this.#taken.bytes < ACK_BYTES) return;
    const rest = this.#restUntil - performance.now();
    if (rest < MIN_REST_MS) this.#acknowledgeNow();
    else this.#timer ??= setTimeout(() => this.#acknowledgeNow(), rest);
  }

  /** Stops sending acknowledgements. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #acknowledgeNow(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const taken = this.#taken;
    this.#taken = NOTHING_TAKEN;
    this.#acknowledge(taken);
  }
}

const NOTHING_TAKEN: Taken = { count: 0, bytes: 0 };
