/** Headers of images of a given size; nothing else of an image is ever read. */

const text = (...parts: (string | number[])[]): Uint8Array =>
  Uint8Array.from(
    parts.flatMap((part) => (typeof part === 'string' ? [...part].map((c) => c.charCodeAt(0)) : part)),
  );
const big = (value: number, bytes: number) =>
  Array.from({ length: bytes }, (_, n) => (value >>> (8 * (bytes - 1 - n))) & 255);
const little = (value: number, bytes: number) => big(value, bytes).reverse();

export const png = (width: number, height: number): Uint8Array =>
  text('\x89PNG\r\n\x1a\n', big(13, 4), 'IHDR', big(width, 4), big(height, 4), [8, 6, 0, 0, 0]);

export const gif = (width: number, height: number): Uint8Array =>
  text('GIF89a', little(width, 2), little(height, 2), [0, 0, 0]);

/** APP0, a Huffman table (its marker is in the range of frame markers), and a progressive frame. */
export const jpeg = (width: number, height: number, { before = 16 } = {}): Uint8Array =>
  text(
    [0xff, 0xd8, 0xff, 0xe0],
    big(before + 2, 2),
    Array<number>(before).fill(0xff),
    [0xff, 0xff, 0xff, 0xc4, 0, 4, 1, 1],
    [0xff, 0xc2, 0, 17, 8],
    big(height, 2),
    big(width, 2),
    Array<number>(10).fill(1),
  );

export function webp(kind: 'VP8 ' | 'VP8L' | 'VP8X', width: number, height: number): Uint8Array {
  const body = {
    'VP8 ': [...big(0, 3), 0x9d, 0x01, 0x2a, ...little(width, 2), ...little(height, 2)],
    VP8L: [0x2f, ...little(((width - 1) | ((height - 1) << 14)) >>> 0, 4), ...big(0, 8)],
    VP8X: [...big(0, 4), ...little(width - 1, 3), ...little(height - 1, 3)],
  }[kind];
  return text('RIFF', little(100, 4), 'WEBP', kind, little(body.length, 4), body);
}
