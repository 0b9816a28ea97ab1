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

const LENGTH_BYTES = 4;
/** Two lengths and the kind of text. */
const FIXED_BYTES = 9;
const MAX_FRAME_BYTES = 2 ** 31;

const NO_TEXT = 0;
const ASCII = 1;
const UTF16 = 2;
const WITH_BYTES = 4;

/** Maximum bytes of a frame from a child: a head with every field of an error, and a value with UTF-16 text. */
export const MAX_CHILD_FRAME_BYTES =
  SANDBOX_LIMITS.frameHeadBytes + 2 * SANDBOX_LIMITS.transferBytes + FIXED_BYTES;

/** Returns the frame in parts, so that the bytes of the value are not copied. Throws a RangeError if it is too long. */
export function encodeFrame(head: unknown, wire?: Wire): Uint8Array[] {
  const json = JSON.stringify(head);
  const headBytes = Buffer.byteLength(json);
  const text = wire?.text ?? '';
  const ascii = Buffer.byteLength(text) === text.length;
  const textBytes = ascii ? text.length : 2 * text.length;
  const bytes = wire?.bytes;
  const length = FIXED_BYTES + headBytes + textBytes + (bytes?.byteLength ?? 0);
  if (length > MAX_FRAME_BYTES)
    throw new RangeError(`A frame of ${length} bytes is too long for the channel.`);
  const buffer = Buffer.allocUnsafe(LENGTH_BYTES + FIXED_BYTES + headBytes + textBytes);
  buffer.writeUInt32LE(length, 0);
  buffer.writeUInt32LE(headBytes, 4);
  buffer.writeUInt32LE(textBytes, 8);
  buffer[12] = (wire ? (ascii ? ASCII : UTF16) : NO_TEXT) | (bytes ? WITH_BYTES : 0);
  buffer.write(json, LENGTH_BYTES + FIXED_BYTES, 'utf8');
  buffer.write(text, LENGTH_BYTES + FIXED_BYTES + headBytes, ascii ? 'latin1' : 'utf16le');
  return bytes ? [buffer, bytes] : [buffer];
}

/** Incremental parser: takes chunks as they arrive and returns one frame at a time. */
export interface FrameReader {
  push(chunk: Uint8Array): void;
  /** Returns the next frame, or undefined if it is incomplete. Throws if the input is not a valid frame. */
  next(): Frame | undefined;
}

export function createFrameReader(longest: number = MAX_FRAME_BYTES): FrameReader {
  const store = createInputBuffer();
  return {
    push: (chunk) => store.append(chunk),
    next() {
      const { buffer, start, end } = store.held();
      if (end - start < LENGTH_BYTES) return undefined;
      const length = buffer.readUInt32LE(start);
      if (length < FIXED_BYTES || length > longest) throw new Error(`invalid frame length: ${length} bytes`);
      if (end - start < LENGTH_BYTES + FIXED_BYTES) return undefined;
      // Checked before the rest has arrived: the sender of an invalid frame may never send the rest.
      const parts = readParts(buffer, start + LENGTH_BYTES, length);
      if (end - start < LENGTH_BYTES + length) {
        store.expect(LENGTH_BYTES + length);
        return undefined;
      }
      const frame = readFrame(buffer, start + LENGTH_BYTES, start + LENGTH_BYTES + length, parts);
      store.drop(LENGTH_BYTES + length);
      return frame;
    },
  };
}

/** Sizes and encoding of the parts of a frame, from its first bytes. */
interface FrameParts {
  readonly headBytes: number;
  readonly textBytes: number;
  readonly encoding: typeof NO_TEXT | typeof ASCII | typeof UTF16;
  readonly hasBytes: boolean;
}

/** Throws if a frame of that length cannot have these parts. */
function readParts(buffer: Buffer, from: number, length: number): FrameParts {
  const headBytes = buffer.readUInt32LE(from);
  const textBytes = buffer.readUInt32LE(from + 4);
  const kind = buffer[from + 8] as number;
  const encoding = kind & ~WITH_BYTES;
  const hasBytes = encoding !== kind;
  const rest = length - FIXED_BYTES - headBytes - textBytes;
  if (rest < 0) throw new Error('a frame shorter than its parts');
  if (encoding === NO_TEXT ? kind !== NO_TEXT || textBytes > 0 : encoding !== ASCII && encoding !== UTF16) {
    throw new Error('unknown text encoding');
  }
  if (encoding === UTF16 && textBytes % 2 !== 0) throw new Error('UTF-16 text of odd length');
  if (rest > 0 && !hasBytes) throw new Error('undeclared bytes');
  return { headBytes, textBytes, encoding, hasBytes } as FrameParts;
}

function readFrame(buffer: Buffer, from: number, to: number, parts: FrameParts): Frame {
  const headAt = from + FIXED_BYTES;
  const textAt = headAt + parts.headBytes;
  const bytesAt = textAt + parts.textBytes;
  const head = readHead(buffer.toString('utf8', headAt, textAt));
  if (parts.encoding === NO_TEXT) return { head };
  const text = buffer.toString(parts.encoding === ASCII ? 'latin1' : 'utf16le', textAt, bytesAt);
  if (!parts.hasBytes) return { head, wire: { text } };
  const bytes = new Uint8Array(buffer.buffer as ArrayBuffer, buffer.byteOffset + bytesAt, to - bytesAt);
  return { head, wire: { text, bytes } };
}

function readHead(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new Error('a head that is not JSON');
  }
}

const MAX_GROWTH_BYTES = 2 * 1024 * 1024;

/**
 * Input that has arrived but was not parsed yet, as one contiguous buffer. Its size follows the input. Bytes that were
 * returned are never overwritten: the `bytes` of values are views into the buffer.
 */
function createInputBuffer() {
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
        const wanted = Math.min(expected, Math.max(2 * needed, MAX_GROWTH_BYTES));
        const larger = Buffer.allocUnsafeSlow(Math.max(needed, wanted));
        buffer.copy(larger, 0, start, end);
        [buffer, start, end] = [larger, 0, size];
      }
      buffer.set(chunk, end);
      end += chunk.byteLength;
    },
  };
}
