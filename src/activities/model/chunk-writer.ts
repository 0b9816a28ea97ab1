/**
 * Streamed text on its way to the event log, coalesced to one row per 50 ms. What comes after a silence, as the first token does, waits no longer than
 * it takes a burst to come whole: readers have it at once, and an answer that comes all at once is one row.
 * Writes follow one another. One that fails is passed over: a lost chunk must not lose the answer, and the
 * committed message is the truth.
 */
const COALESCE_MS = 50;
const BURST_MS = 4;

type Later = (work: () => void, ms: number) => NodeJS.Timeout;

export class ChunkWriter {
  readonly #write: (delta: string, call: number) => Promise<unknown>;
  readonly #later: Later;
  #pending = '';
  #call = 0;
  #timer: NodeJS.Timeout | undefined;
  #flushedAt = Number.NEGATIVE_INFINITY;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(write: (delta: string, call: number) => Promise<unknown>, later: Later = setTimeout) {
    this.#write = write;
    this.#later = later;
  }

  /** `call` tells one request to a model from the next: their texts must not run together. */
  push(delta: string, call: number): void {
    if (call !== this.#call) this.#flush();
    this.#call = call;
    this.#pending += delta;
    this.#timer ??= this.#later(() => this.#flush(), this.#pause());
  }

  /** Milliseconds until the next row. */
  #pause(): number {
    return Math.max(BURST_MS, COALESCE_MS - (performance.now() - this.#flushedAt));
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const delta = this.#pending;
    const call = this.#call;
    this.#pending = '';
    // What had nothing to write begins no pause: each request's first token comes after such a flush.
    if (delta.length === 0) return;
    this.#flushedAt = performance.now();
    this.inOrder(() => this.#write(delta, call));
  }

  /** Writes something else, behind what was flushed before. */
  inOrder(write: () => Promise<unknown>): void {
    this.#tail = this.#tail.then(write).catch(() => undefined);
  }

  /** Writes what is left and waits until all is written. */
  async finish(): Promise<void> {
    this.#flush();
    await this.#tail;
  }
}
