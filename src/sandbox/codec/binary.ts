/** Binary data: reads the bytes that a buffer or view covers, and creates a new one of the same kind over a copy. */
import {
  bufferBytes,
  tableOf,
  typedArrayAt,
  typedArrayBuffer,
  typedArrayBytes,
  typedArrayKind,
  typedArrayOffset,
  typedArraySet,
  Uint8ArrayOf,
  viewBuffer,
  viewBytes,
  viewOffset,
} from './intrinsics.ts';

export type Bytes = Uint8Array<ArrayBuffer>;

/** The bytes that a value covers, not copied yet; or why there are none, worded to follow "value is …". */
export type Extent =
  | { readonly kind: string; readonly bytes: Bytes }
  | { readonly kind: undefined; readonly fault: string };

type Maker = new (buffer: ArrayBuffer) => object;

const MAKERS = tableOf<Maker | undefined>({
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
  /** Available since Node 24, but missing from the ES2024 types. */
  Float16Array: (globalThis as { Float16Array?: Maker }).Float16Array,
});

/** Returns the bytes of a value with the brand `binary`. */
export function extentOf(value: object): Extent {
  const kind = typedArrayKind(value);
  if (kind === undefined) return dataViewExtent(value);
  // An out-of-bounds view has lengths of 0, as an empty one has; only method calls distinguish the two.
  if (doesThrow(() => typedArrayAt(value, 0))) return detachedFault(kind);
  return extent(kind, typedArrayBuffer(value), typedArrayOffset(value), typedArrayBytes(value));
}

function dataViewExtent(value: object): Extent {
  let buffer: ArrayBuffer;
  try {
    buffer = viewBuffer(value);
  } catch {
    if (doesThrow(() => new Uint8ArrayOf(value as ArrayBuffer)))
      return { kind: undefined, fault: 'a detached ArrayBuffer' };
    return extent('ArrayBuffer', value as ArrayBuffer, 0, bufferBytes(value));
  }
  if (doesThrow(() => viewBytes(value))) return detachedFault('DataView');
  return extent('DataView', buffer, viewOffset(value), viewBytes(value));
}

function extent(kind: string, buffer: ArrayBuffer, offset: number, length: number): Extent {
  if (doesThrow(() => bufferBytes(buffer)))
    return { kind: undefined, fault: `${withArticle(kind)} on a SharedArrayBuffer` };
  return { kind, bytes: new Uint8ArrayOf(buffer, offset, length) };
}

function detachedFault(kind: string): Extent {
  return { kind: undefined, fault: `${withArticle(kind)} whose buffer is detached or has shrunk` };
}

const withArticle = (kind: string): string => (kind[0] === 'I' ? `an ${kind}` : `a ${kind}`);

function doesThrow(read: () => unknown): boolean {
  try {
    read();
    return false;
  } catch {
    return true;
  }
}

/** Returns `undefined` if this realm does not know the kind, or if its elements do not fill `length` exactly. */
export function binaryOf(kind: string, from: Bytes, offset: number, length: number): object | undefined {
  const Maker = MAKERS[kind];
  if (Maker === undefined && kind !== 'ArrayBuffer') return undefined;
  const bytes = new Uint8ArrayOf(length);
  copy(bytes, 0, new Uint8ArrayOf(typedArrayBuffer(from), typedArrayOffset(from) + offset, length));
  const buffer = typedArrayBuffer(bytes);
  if (Maker === undefined) return buffer;
  if (Maker === Uint8ArrayOf) return bytes;
  try {
    return new Maker(buffer);
  } catch {
    return undefined;
  }
}

export function copy(to: Bytes, offset: number, from: Bytes): void {
  typedArraySet(to, from, offset);
}

export const lengthOf: (bytes: Bytes) => number = typedArrayBytes;

/** Returns the first `length` bytes, in a buffer of exactly that size. */
export function trimmed(bytes: Bytes, length: number): Bytes {
  if (lengthOf(bytes) === length) return bytes;
  const exact = new Uint8ArrayOf(length);
  copy(exact, 0, new Uint8ArrayOf(typedArrayBuffer(bytes), 0, length));
  return exact;
}

/** Returns `bytes`, or a larger copy with room for `needed` bytes. The size at least doubles, up to `most`. */
export function growTo(bytes: Bytes, used: number, needed: number, most: number): Bytes {
  const size = lengthOf(bytes);
  if (needed <= size) return bytes;
  const doubled = size * 2 < most ? size * 2 : most;
  const larger = new Uint8ArrayOf(needed > doubled ? needed : doubled);
  if (used > 0) copy(larger, 0, bytes);
  return larger;
}
