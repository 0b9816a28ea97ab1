/**
 * Bytes of their own: whoever holds those given may change them later. They are copied as memory. `Uint8Array.from` would ask an
 * iterator for each as soon as anything in the process has touched array iterators, and a file of 100 MiB would end it.
 */
export function copyBytes(given: ArrayBufferView | ArrayBufferLike): Uint8Array<ArrayBuffer> {
  const view = ArrayBuffer.isView(given)
    ? new Uint8Array(given.buffer, given.byteOffset, given.byteLength)
    : new Uint8Array(given);
  return new Uint8Array(view);
}
