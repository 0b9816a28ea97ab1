/**
 * Writes what a model streams to the event log, coalesced to one row per COALESCE_MS. Text after a pause, such as the
 * first token, waits only BURST_MS: readers have it at once, and an answer that arrives in one burst is one row.
 * Writes are sequential. A failed one is skipped: a lost chunk must not lose the answer, and the committed message is
 * authoritative.
 * - A row has a piece of one text: of the answer, of its reasoning, or of the arguments of one call.
 * - No row ends within a character: the first half of a surrogate pair waits for the other one, since stores replace
 *   each half by itself.
 * - The rest of a call's arguments is not written when the answer ends: the call itself follows.
 */
import type { AttemptChunk } from '../../models/call-model.ts';
import type { ModelChunk } from '../../store/step/step-record.ts';

const COALESCE_MS = 50;
const BURST_MS = 4;

type SetTimer = (work: () => void, ms: number) => NodeJS.Timeout;
type Piece = Pick<ModelChunk, 'call' | 'delta' | 'reasoning' | 'input'>;

export class ChunkWriter {
  readonly #write: (piece: Piece) => Promise<unknown>;
  readonly #setTimer: SetTimer;
  /** In their order; neighbours of one text are one piece. */
  #pending: AttemptChunk[] = [];
  /** First halves of characters, by the text that they end. */
  readonly #halves = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #written = 0;
  #flushedAt = Number.NEGATIVE_INFINITY;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(write: (piece: Piece) => Promise<unknown>, later: SetTimer = setTimeout) {
    this.#write = write;
    this.#setTimer = later;
  }

  push(chunk: AttemptChunk): void {
    const last = this.#pending.at(-1);
    if (last && last.attempt !== chunk.attempt) this.#flush();
    if (last && keyOf(last) === keyOf(chunk))
      this.#pending.splice(-1, 1, { ...chunk, delta: last.delta + chunk.delta });
    else this.#pending.push(chunk);
    this.#timer ??= this.#setTimer(() => this.#flush(), this.#pause(chunk));
  }

  /** Milliseconds until the next row. */
  #pause({ kind }: AttemptChunk): number {
    if (kind === 'input') return COALESCE_MS;
    return Math.max(BURST_MS, COALESCE_MS - (performance.now() - this.#flushedAt));
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const pieces = this.#pending.flatMap((chunk) => this.#toPiece(chunk) ?? []);
    this.#pending = [];
    // An empty flush starts no pause: the first token of each request comes after one.
    if (pieces.length === 0) return;
    this.#flushedAt = performance.now();
    this.#written = pieces.at(-1)?.call ?? this.#written;
    for (const piece of pieces) this.inOrder(() => this.#write(piece));
  }

  #toPiece(chunk: AttemptChunk): Piece | undefined {
    const { attempt: call, kind, call: asked } = chunk;
    const delta = this.#keepHalf(chunk, this.#takeHalf(chunk) + chunk.delta);
    if (delta === '') return undefined;
    if (kind === 'content') return { call, delta };
    return kind === 'reasoning'
      ? { call, delta: '', reasoning: delta }
      : asked && { call, delta: '', input: { ...asked, delta } };
  }

  /** Returns the text without the first half of a character at its end. */
  #keepHalf(chunk: AttemptChunk, text: string): string {
    const last = text.charCodeAt(text.length - 1);
    if (!(last >= 0xd800 && last < 0xdc00)) return text;
    this.#halves.set(keyOf(chunk), text.slice(-1));
    return text.slice(0, -1);
  }

  #takeHalf(chunk: AttemptChunk): string {
    const key = keyOf(chunk);
    const half = this.#halves.get(key) ?? '';
    this.#halves.delete(key);
    return half;
  }

  /** True if the request is the last one with a row. */
  hasWritten(call: number): boolean {
    return call === this.#written;
  }

  /** Runs another write after everything that was flushed before. */
  inOrder(write: () => Promise<unknown>): void {
    this.#tail = this.#tail.then(write).catch(() => undefined);
  }

  /** Writes what is left and waits until all is written. */
  async finish(): Promise<void> {
    this.#pending = this.#pending.filter(({ kind }) => kind !== 'input');
    this.#flush();
    this.#halves.clear();
    await this.#tail;
  }
}

function keyOf({ attempt, kind, call }: AttemptChunk): string {
  return `${attempt} ${kind} ${call?.callId ?? ''}`;
}
