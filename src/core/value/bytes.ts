/**
 * Returns a copy, since the holder of the given bytes may change them later. The bytes are copied as memory:
 * `Uint8Array.from` iterates over single bytes once anything in the process has touched array iterators, and a file of
 * 100 MiB would then end the process.
 */
export function copyBytes(given: ArrayBufferView | ArrayBufferLike): Uint8Array<ArrayBuffer> {
  const view = ArrayBuffer.isView(given)
    ? new Uint8Array(given.buffer, given.byteOffset, given.byteLength)
    : new Uint8Array(given);
  return new Uint8Array(view);
}
