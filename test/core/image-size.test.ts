/** Image sizes read from file headers, and bytes that are no image. */
import { describe, expect, it } from '@jest/globals';
import { readImageSize } from '../../src/core/file/image-size.ts';
import { isTextType, parseMimeType } from '../../src/core/file/mime-type.ts';
import { gif, jpeg, png, webp } from '../support/image.ts';

describe('the size of an image', () => {
  it.each<[string, Uint8Array]>([
    ['PNG', png(640, 480)],
    ['GIF', gif(640, 480)],
    ['JPEG', jpeg(640, 480)],
    ['JPEG with much before its frame', jpeg(640, 480, { before: 60_000 })],
    ['lossy WebP', webp('VP8 ', 640, 480)],
    ['lossless WebP', webp('VP8L', 640, 480)],
    ['extended WebP', webp('VP8X', 640, 480)],
  ])('is read from a %s', (_, bytes) => {
    expect(readImageSize(bytes)).toEqual({ width: 640, height: 480 });
    // A file that is cut at any length does not make it throw.
    for (let length = 0; length < Math.min(bytes.length, 400); length++)
      readImageSize(bytes.subarray(0, length));
  });

  it.each<[string, Uint8Array]>([
    ['nothing', new Uint8Array(0)],
    ['a text', new TextEncoder().encode('no image at all, and long enough for a header')],
    ['a PNG without a width', png(0, 480)],
    ['a JPEG that never has a frame', Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0)],
    ['a JPEG of fill bytes', new Uint8Array(100_000).fill(0xff).fill(0xd8, 1, 2)],
  ])('is unknown for %s', (_, bytes) => {
    expect(readImageSize(bytes)).toBeUndefined();
  });

  it('is read at the offset where the image begins in its buffer', () => {
    const bytes = png(3, 5);
    const buffer = new Uint8Array(100 + bytes.length);
    buffer.set(bytes, 100);
    expect(readImageSize(buffer.subarray(100))).toEqual({ width: 3, height: 5 });
  });
});

describe('a media type', () => {
  it.each([
    'text/plain',
    'text/html; charset=utf-8',
    'TEXT/CSV',
    'application/json',
    'application/ld+json',
    'image/svg+xml',
    'application/yaml;charset=utf-8',
    'application/x-sh',
    'application/sql',
    'application/toml',
    'application/rtf',
    'application/x-www-form-urlencoded',
  ])('%s is text', (type) => {
    expect(parseMimeType(type)).toBe(type);
    expect(isTextType(type)).toBe(true);
  });

  it.each(['image/png', 'application/octet-stream', 'application/pdf', 'application/vnd.ms-excel'])(
    '%s is not',
    (type) => {
      expect(parseMimeType(type)).toBe(type);
      expect(isTextType(type)).toBe(false);
    },
  );

  it.each<[unknown]>([
    [''],
    ['text'],
    ['text/'],
    ['text/plain\r\nX-Header: 1'],
    ['text/plain\n;a=b'],
    ['text/plain; a=é'],
    ['inode/directory'],
    [`text/${'x'.repeat(300)}`],
    [undefined],
    [7],
  ])('%j is not a media type', (type) => {
    expect(() => parseMimeType(type as string)).toThrow(expect.objectContaining({ code: 'InvalidValue' }));
  });
});
