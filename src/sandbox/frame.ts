/**
 * The wire format of messages between host and child: length-bounded frames, parsed by hand. Data from a child is
 * untrusted, so it never reaches V8's deserializer, and no length field is trusted beyond the bytes that have arrived.
 *
 *   length  4 bytes: the size of everything that follows
 *   sizes   4 bytes for the head, 4 for the text, and 1 byte for the kind of text
 *   head    JSON: the message without its value
 *   text    the value's text: ASCII, or UTF-16, which preserves every string exactly
 *   bytes   the rest: the value's bytes
 */
import type { Wire } from './codec/wire.ts';
import { SANDBOX_LIMITS } from './limits.ts';

export interface Frame {
  /** The parsed JSON, not validated. */
  readonly head: unknown;
  readonly wire?: Wire;
}

const LENGTH = 4;
/** Two lengths and the kind of text. */
const FIXED = 9;
const LONGEST = 2 ** 31;

const NONE = 0;
const ASCII = 1;
const UTF16 = 2;
const WITH_BYTES = 4;

/** Maximum bytes of a frame from a child: a head with every field of an error, and a value with UTF-16 text. */
export const FRAME_OF_CHILD = SANDBOX_LIMITS.frameHeadBytes + 2 * SANDBOX_LIMITS.transferBytes + FIXED;

/** Returns the frame in parts, so that the bytes of the value are not copied. Throws a RangeError if it is too long. */
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

/** Incremental parser: takes chunks as they arrive and returns one frame at a time. */
export interface FrameReader {
  push(chunk: Uint8Array): void;
  /** Returns the next frame, or undefined if it is incomplete. Throws if the input is not a valid frame. */
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
      // Checked before the rest has arrived: the sender of an invalid frame may never send the rest.
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

/** Sizes and encoding of the parts of a frame, from its first bytes. */
interface Parts {
  readonly headBytes: number;
  readonly textBytes: number;
  readonly encoding: typeof NONE | typeof ASCII | typeof UTF16;
  readonly hasBytes: boolean;
}

/** Throws if a frame of that length cannot have these parts. */
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
 * Input that has arrived but was not parsed yet, as one contiguous buffer. Its size follows the input. Bytes that were
 * returned are never overwritten: the `bytes` of values are views into the buffer.
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
