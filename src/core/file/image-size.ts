/**
 * Type, width and height of an image, read from the header of a PNG, JPEG, GIF or WebP; by content, whatever its declared type.
 * Nothing is decoded. The bytes are untrusted: input that does not fit the format has no size.
 */

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

export function readImageSize(bytes: Uint8Array): ImageSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = READERS.find(({ fits }) => fits(bytes))?.read(view);
  return size && size.width > 0 && size.height > 0 ? size : undefined;
}

/** The media type of an image that models can be shown; undefined for everything else. */
export function readImageType(bytes: Uint8Array): string | undefined {
  return readImageSize(bytes) && READERS.find(({ fits }) => fits(bytes))?.type;
}

interface Reader {
  readonly type: string;
  readonly fits: (bytes: Uint8Array) => boolean;
  readonly read: (view: DataView) => ImageSize | undefined;
}

const READERS: readonly Reader[] = [
  {
    type: 'image/png',
    fits: (bytes) => hasBytesAt(bytes, 0, '\x89PNG\r\n\x1a\n') && hasBytesAt(bytes, 12, 'IHDR'),
    read: readPng,
  },
  {
    type: 'image/gif',
    fits: (bytes) => hasBytesAt(bytes, 0, 'GIF87a') || hasBytesAt(bytes, 0, 'GIF89a'),
    read: readGif,
  },
  {
    type: 'image/webp',
    fits: (bytes) => hasBytesAt(bytes, 0, 'RIFF') && hasBytesAt(bytes, 8, 'WEBPVP8'),
    read: readWebp,
  },
  { type: 'image/jpeg', fits: (bytes) => hasBytesAt(bytes, 0, '\xff\xd8\xff'), read: readJpeg },
];

function hasBytesAt(bytes: Uint8Array, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false;
  return true;
}

function readPng(view: DataView): ImageSize | undefined {
  return view.byteLength < 24 ? undefined : { width: view.getUint32(16), height: view.getUint32(20) };
}

function readGif(view: DataView): ImageSize | undefined {
  if (view.byteLength < 10) return undefined;
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

/** Three kinds of chunk: lossy, lossless (14 bits each, less one), extended (24 bits each, less one). */
function readWebp(view: DataView): ImageSize | undefined {
  if (view.byteLength < 30) return undefined;
  switch (String.fromCharCode(view.getUint8(15))) {
    case ' ':
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case 'L': {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'X':
      return {
        width: (view.getUint16(24, true) | (view.getUint8(26) << 16)) + 1,
        height: (view.getUint16(27, true) | (view.getUint8(29) << 16)) + 1,
      };
    default:
      return undefined;
  }
}

/** Skips segment after segment by their lengths, until the one that begins a frame. */
function readJpeg(view: DataView): ImageSize | undefined {
  for (let at = 2; at + 9 <= view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    // Any number of fill bytes may precede a marker.
    if (marker === 0xff) at += 1;
    else if (isFrame(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    else at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

/** SOF0 to SOF15, except the tables that share their numbers. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}
