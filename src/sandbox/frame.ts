/**
 * How messages lie on the channel between host and child: bounded frames that are read by hand. What a child writes
 * is untrusted, so nothing of it reaches V8's deserializer, and no length is trusted beyond what has arrived.
 *
 *   length  4 bytes, of all that follows
 *   head    4 bytes of length, and JSON: the message without its value
 *   text    4 bytes of length, 1 of kind, and the value's text: ASCII, or UTF-16 in which every string is exact
 *   bytes   the rest, the value's bytes
 */
import type { Wire } from './codec/wire.ts';
import { SANDBOX_LIMITS } from './limits.ts';

export interface Frame {
  /** As parsed: nothing about it is known. */
  readonly head: unknown;
  readonly wire?: Wire;
}

const LENGTH = 4;
/** Three lengths and the kind of text. */
const FIXED = 9;
const LONGEST = 2 ** 31;

const NONE = 0;
const ASCII = 1;
const UTF16 = 2;
const WITH_BYTES = 4;

/** The largest frame of a child: a head with every field of an error, and a value whose text is in UTF-16. */
export const FRAME_OF_CHILD = SANDBOX_LIMITS.frameHeadBytes + 2 * SANDBOX_LIMITS.transferBytes + FIXED;

/** In parts, for a value's bytes are not copied. */
export function encodeFrame(head: unknown, wire?: Wire): Uint8Array[] {
  const json = JSON.stringify(head);
  const headBytes = Buffer.byteLength(json);
  const text = wire?.text ?? '';
  const ascii = Buffer.byteLength(text) === text.length;
  const textBytes = ascii ? text.length : 2 * text.length;
  const bytes = wire?.bytes;
  const length = FIXED + headBytes + textBytes + (bytes?.byteLength ?? 0);
  if (length > LONGEST) throw new RangeError(`A frame of ${length} bytes is too long for the channel.`);
  const buffer = Buffer.allocUnsafe(LENGTH + FIXED + headBytes + textBytes);
  buffer.writeUInt32LE(length, 0);
  buffer.writeUInt32LE(headBytes, 4);
  buffer.writeUInt32LE(textBytes, 8);
  buffer[12] = (wire ? (ascii ? ASCII : UTF16) : NONE) | (bytes ? WITH_BYTES : 0);
  buffer.write(json, LENGTH + FIXED, 'utf8');
  buffer.write(text, LENGTH + FIXED + headBytes, ascii ? 'latin1' : 'utf16le');
  return bytes ? [buffer, bytes] : [buffer];
}

/** Takes what arrives, gives frame after frame. */
export interface FrameReader {
  push(chunk: Uint8Array): void;
  /** Throws when what has arrived is no frame. Undefined until there is a whole one. */
  next(): Frame | undefined;
}

export function createFrameReader(longest: number = LONGEST): FrameReader {
  const store = createStore();
  return {
    push: (chunk) => store.append(chunk),
    next() {
      const { buffer, start, end } = store.held();
      if (end - start < LENGTH) return undefined;
      const length = buffer.readUInt32LE(start);
      if (length < FIXED || length > longest) throw new Error(`a frame of ${length} bytes`);
      if (end - start < LENGTH + FIXED) return undefined;
      // Before the rest has come: a sender of what can be no frame may never send the rest.
      const parts = readParts(buffer, start + LENGTH, length);
      if (end - start < LENGTH + length) {
        store.expect(LENGTH + length);
        return undefined;
      }
      const frame = readFrame(buffer, start + LENGTH, start + LENGTH + length, parts);
      store.drop(LENGTH + length);
      return frame;
    },
  };
}

/** What the first bytes of a frame say of its parts. */
interface Parts {
  readonly headBytes: number;
  readonly textBytes: number;
  readonly encoding: typeof NONE | typeof ASCII | typeof UTF16;
  readonly hasBytes: boolean;
}

/** Throws when no frame of that length can have these parts. */
function readParts(buffer: Buffer, from: number, length: number): Parts {
  const headBytes = buffer.readUInt32LE(from);
  const textBytes = buffer.readUInt32LE(from + 4);
  const kind = buffer[from + 8] as number;
  const encoding = kind & ~WITH_BYTES;
  const hasBytes = encoding !== kind;
  const rest = length - FIXED - headBytes - textBytes;
  if (rest < 0) throw new Error('a frame whose parts are longer than itself');
  if (encoding === NONE ? kind !== NONE || textBytes > 0 : encoding !== ASCII && encoding !== UTF16) {
    throw new Error('a text of no kind');
  }
  if (encoding === UTF16 && textBytes % 2 !== 0) throw new Error('half a character');
  if (rest > 0 && !hasBytes) throw new Error('bytes that were not told of');
  return { headBytes, textBytes, encoding, hasBytes } as Parts;
}

function readFrame(buffer: Buffer, from: number, to: number, parts: Parts): Frame {
  const headAt = from + FIXED;
  const textAt = headAt + parts.headBytes;
  const bytesAt = textAt + parts.textBytes;
  const head = readHead(buffer.toString('utf8', headAt, textAt));
  if (parts.encoding === NONE) return { head };
  const text = buffer.toString(parts.encoding === ASCII ? 'latin1' : 'utf16le', textAt, bytesAt);
  if (!parts.hasBytes) return { head, wire: { text } };
  const bytes = new Uint8Array(buffer.buffer as ArrayBuffer, buffer.byteOffset + bytesAt, to - bytesAt);
  return { head, wire: { text, bytes } };
}

function readHead(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new Error('a head that is no JSON');
  }
}

const AT_ONCE = 2 * 1024 * 1024;

/**
 * What arrived and was not taken yet, in one piece. It grows with what has come, and what was once shown is never
 * written again: the bytes of values are views into it.
 */
function createStore() {
  let buffer: Buffer = Buffer.alloc(0);
  let [start, end, expected] = [0, 0, 0];
  return {
    held: () => ({ buffer, start, end }),
    expect(size: number) {
      expected = size;
    },
    drop(size: number) {
      start += size;
      expected = 0;
    },
    append(chunk: Uint8Array) {
      const size = end - start;
      if (size === 0) {
        buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
        [start, end] = [0, chunk.byteLength];
        return;
      }
      if (end + chunk.byteLength > buffer.length) {
        const needed = size + chunk.byteLength;
        const wanted = Math.min(expected, Math.max(2 * needed, AT_ONCE));
        const larger = Buffer.allocUnsafeSlow(Math.max(needed, wanted));
        buffer.copy(larger, 0, start, end);
        [buffer, start, end] = [larger, 0, size];
      }
      buffer.set(chunk, end);
      end += chunk.byteLength;
    },
  };
}
