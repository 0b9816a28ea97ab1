/**
 * What is kept of a body that carries a conversation: clients send all of it each time, pictures included, and a thread
 * has the earlier messages itself.
 * - Of a body that is too large, long texts of earlier messages are left out, the oldest first, until the rest fits.
 *   The last message is kept whole, or the body is refused. A body that fits stays as it is, byte by byte.
 * - What is left out is told where it stood: as a data URL without data, or by a text that says how long it was.
 * - No more than the limit is held. Bytes are looked at as they arrive: JSON is parsed later, by the route.
 */
import { tooLarge } from './problem.ts';

/** Top-level fields whose lists are conversations. */
const CONVERSATIONS: ReadonlySet<string> = new Set(['messages', 'initial_messages']);
/** Number of bytes from which a text is long. */
const LONG = 4096;
/** Number of bytes by which a text is judged. */
const HEAD = 256;
const KEY_BYTES = 20;
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** A long text of a message, without its quotes. */
interface LongText {
  bytes: Uint8Array;
  /** Number of the message in the body. */
  readonly message: number;
}

export class KeptBody {
  readonly #most: number;
  /** What has been read, in its order, up to the last long text. */
  readonly #pieces: { bytes: Uint8Array }[] = [];
  /** The long texts among these that are still whole. */
  readonly #long: LongText[] = [];
  /** What follows them. */
  #rest: Uint8Array[] = [];
  #restBytes = 0;
  #held = 0;
  #depth = 0;
  #inText = false;
  #escaped = false;
  /** Where the text that is being read begins within the rest. */
  #textAt = 0;
  /** The beginning of the last text on the top level. */
  #key = '';
  #inConversation = false;
  #message = 0;

  constructor(mostBytes: number) {
    this.#most = mostBytes;
  }

  /** Number of bytes that are held. */
  get held(): number {
    return this.#held;
  }

  /** Throws `RequestTooLarge`. */
  add(chunk: Uint8Array): void {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      if (!this.#inText) {
        this.#readStructure(chunk[at] as number, this.#restBytes + at - from + 1);
        continue;
      }
      at = this.#readText(chunk, at);
      if (this.#inText || !this.#isLong(this.#restBytes + at - from)) continue;
      this.#push(chunk.subarray(from, at));
      this.#cutText();
      from = at;
    }
    this.#push(chunk.subarray(from));
    this.#held += chunk.length;
    while (this.#held > this.#most) this.#dropOldest();
  }

  end(): readonly Uint8Array[] {
    return [...this.#pieces.map(({ bytes }) => bytes), ...this.#rest];
  }

  /** `next`: where the byte behind this one stands within the rest. */
  #readStructure(byte: number, next: number): void {
    if (byte === QUOTE) {
      this.#inText = true;
      this.#textAt = next;
      if (this.#depth === 1) this.#key = '';
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      this.#depth += 1;
      this.#inConversation ||= byte === OPEN_LIST && this.#depth === 2 && CONVERSATIONS.has(this.#key);
      if (this.#inConversation && this.#depth === 2) this.#message += 1;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      this.#depth -= 1;
      this.#inConversation &&= this.#depth > 1;
    } else if (byte === COMMA && this.#inConversation && this.#depth === 2) this.#message += 1;
  }

  /** Returns where the quote is that ends the text, or the end of the chunk. */
  #readText(chunk: Uint8Array, from: number): number {
    const isEscaped = (at: number) => {
      let before = at;
      while (before > from && chunk[before - 1] === BACKSLASH) before -= 1;
      return (at - before + (before === from && this.#escaped ? 1 : 0)) % 2 === 1;
    };
    let quote = chunk.indexOf(QUOTE, from);
    while (quote >= 0 && isEscaped(quote)) quote = chunk.indexOf(QUOTE, quote + 1);
    const end = quote < 0 ? chunk.length : quote;
    if (this.#depth === 1 && this.#key.length < KEY_BYTES)
      this.#key += Buffer.from(chunk.subarray(from, Math.min(end, from + KEY_BYTES))).toString('latin1');
    this.#inText = quote < 0;
    this.#escaped = quote < 0 && isEscaped(end);
    return end;
  }

  #isLong(end: number): boolean {
    return this.#inConversation && end - this.#textAt >= LONG;
  }

  #push(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#rest.push(bytes);
    this.#restBytes += bytes.length;
  }

  /** Separates the text at the end of the rest. Copied, so that no chunk is held for a part of it. */
  #cutText(): void {
    const all = Buffer.concat(this.#rest);
    const text: LongText = { bytes: Buffer.from(all.subarray(this.#textAt)), message: this.#message };
    this.#pieces.push({ bytes: Buffer.from(all.subarray(0, this.#textAt)) }, text);
    this.#long.push(text);
    this.#rest = [];
    this.#restBytes = 0;
  }

  /** Makes room. */
  #dropOldest(): void {
    const [oldest] = this.#long;
    if (!oldest || oldest.message >= this.#message) throw tooLarge(this.#most);
    const left = Buffer.from(describeLoss(oldest.bytes));
    this.#held -= oldest.bytes.length - left.length;
    oldest.bytes = left;
    this.#long.shift();
  }
}

/** What stands in place of a text. */
function describeLoss(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.subarray(0, HEAD)).toString('latin1');
  const [, type] = /^data:([\w.+/\\-]*)[;,]/.exec(head) ?? [];
  if (type !== undefined) return `data:${type},`;
  return /^[\w+/\\=-]+$/.test(head) ? '' : `[a text of ${bytes.length} bytes, not kept]`;
}
