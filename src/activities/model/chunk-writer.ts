/**
 * Writes streamed text to the event log, coalesced to one row per COALESCE_MS. Text after a pause, such as the first
 * token, waits only BURST_MS: readers have it at once, and an answer that arrives in one burst is one row.
 * Writes are sequential. A failed one is skipped: a lost chunk must not lose the answer, and the committed message is
 * authoritative.
 */
const COALESCE_MS = 50;
const BURST_MS = 4;

type SetTimer = (work: () => void, ms: number) => NodeJS.Timeout;

export class ChunkWriter {
  readonly #write: (delta: string, call: number) => Promise<unknown>;
  readonly #setTimer: SetTimer;
  #pending = '';
  #call = 0;
  #timer: NodeJS.Timeout | undefined;
  #flushedAt = Number.NEGATIVE_INFINITY;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(write: (delta: string, call: number) => Promise<unknown>, later: SetTimer = setTimeout) {
    this.#write = write;
    this.#setTimer = later;
  }

  /** `call` distinguishes requests to a model: their texts must not be merged. */
  push(delta: string, call: number): void {
    if (call !== this.#call) this.#flush();
    this.#call = call;
    this.#pending += delta;
    this.#timer ??= this.#setTimer(() => this.#flush(), this.#pause());
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
    // An empty flush starts no pause: the first token of each request comes after one.
    if (delta.length === 0) return;
    this.#flushedAt = performance.now();
    this.inOrder(() => this.#write(delta, call));
  }

  /** Runs another write after everything that was flushed before. */
  inOrder(write: () => Promise<unknown>): void {
    this.#tail = this.#tail.then(write).catch(() => undefined);
  }

  /** Writes what is left and waits until all is written. */
  async finish(): Promise<void> {
    this.#flush();
    await this.#tail;
  }
}
