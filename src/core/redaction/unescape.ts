/**
 * Decodes one level of escapes in a text: those of JSON, JavaScript and Python (`\n`, `\/`, `\'`, `\u00e9`, `\xe9`,
 * `\u{e9}`, `\U000000e9`), of URLs (`%C3%A9`) and of HTML (`&amp;`, `&#233;`, `&#xe9;`; of named entities the five of
 * XML). They may be mixed, with hex digits in either case. Everything else stays. Returns `undefined` if the text has
 * no escape: decoding is complete.
 */
import { createViewWriter, encode, type View, type ViewWriter } from './view.ts';

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const SEMICOLON = 0x3b;

/** Single characters after a backslash. Before any other character that starts no code, the backslash stays. */
const SINGLE: ReadonlyMap<number, number> = new Map(
  Object.entries({ '"': '"', "'": "'", '`': '`', '\\': '\\', '/': '/' })
    .concat(Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }))
    .map(([sign, meant]) => [sign.charCodeAt(0), meant.charCodeAt(0)]),
);

const ENTITIES: readonly (readonly [Uint8Array, number])[] = (
  [
    ['&amp;', '&'],
    ['&lt;', '<'],
    ['&gt;', '>'],
    ['&quot;', '"'],
    ['&apos;', "'"],
  ] as const
).map(([name, sign]) => [encode(name), sign.charCodeAt(0)]);

/** The most digits of a numeric entity, leading zeros included. */
const ENTITY_DIGITS = 10;

export function unescapeOnce(view: View): View | undefined {
  const { bytes } = view;
  if (![BACKSLASH, PERCENT, AMPERSAND].some((sign) => bytes.includes(sign))) return undefined;
  const writer = createViewWriter(view);
  let changed = false;
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] as number;
    const length = isSign(byte) ? readEscape(bytes, at, writer) : 0;
    if (length === 0) writer.push(byte, at, at + 1);
    else changed = true;
    at += length || 1;
  }
  return changed ? writer.finish() : undefined;
}

const isSign = (byte: number) => byte === BACKSLASH || byte === PERCENT || byte === AMPERSAND;

/** Writes the decoded escape and returns its length; returns 0 if there is none. */
function readEscape(bytes: Uint8Array, at: number, writer: ViewWriter): number {
  const sign = bytes[at];
  if (sign === AMPERSAND) return readEntity(bytes, at, writer);
  if (sign === PERCENT) {
    const byte = readHex(bytes, at + 1, 2);
    if (byte === undefined) return 0;
    writer.push(byte, at, at + 3);
    return 3;
  }
  const single = SINGLE.get(bytes[at + 1] ?? -1);
  if (single === undefined) return readCode(bytes, at, writer);
  writer.push(single, at, at + 2);
  return 2;
}

/** `\xHH`, `\uHHHH`, `\u{H…}`, `\UHHHHHHHH`. */
function readCode(bytes: Uint8Array, at: number, writer: ViewWriter): number {
  const letter = bytes[at + 1];
  if (letter === 0x78) return readByteCode(bytes, at, writer);
  if (letter === 0x55) return writeCode(readHex(bytes, at + 2, 8), { at, length: 10 }, writer);
  if (letter !== 0x75) return 0;
  if (bytes[at + 2] === 0x7b) {
    const end = bytes.subarray(at + 3, at + 10).indexOf(0x7d);
    return end < 1 ? 0 : writeCode(readHex(bytes, at + 3, end), { at, length: end + 4 }, writer);
  }
  const code = readHex(bytes, at + 2, 4);
  const second = isHigh(code) && bytes[at + 6] === BACKSLASH && bytes[at + 7] === 0x75;
  const low = second ? readHex(bytes, at + 8, 4) : undefined;
  if (code === undefined || low === undefined || low >> 10 !== 0x37)
    return writeCode(code, { at, length: 6 }, writer);
  return writeCode(0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff), { at, length: 12 }, writer);
}

const isHigh = (code: number | undefined) => code !== undefined && code >> 10 === 0x36;

/** `\xHH`: a byte of UTF-8, as Python shows bytes, if the escapes after it complete a character; else a code point. */
function readByteCode(bytes: Uint8Array, at: number, writer: ViewWriter): number {
  const code = readHex(bytes, at + 2, 2);
  if (code === undefined) return 0;
  const length = code < 0xc2 ? 1 : code < 0xe0 ? 2 : code < 0xf0 ? 3 : code < 0xf5 ? 4 : 1;
  const rest = Array.from({ length: length - 1 }, (_, n) => readContinuation(bytes, at + 4 * (n + 1)));
  if (length === 1 || rest.includes(-1)) return writeCode(code, { at, length: 4 }, writer);
  for (const [n, byte] of [code, ...rest].entries()) writer.push(byte, at + 4 * n, at + 4 * (n + 1));
  return 4 * length;
}

function readContinuation(bytes: Uint8Array, at: number): number {
  const code = bytes[at] === BACKSLASH && bytes[at + 1] === 0x78 ? readHex(bytes, at + 2, 2) : undefined;
  return code !== undefined && code >> 6 === 2 ? code : -1;
}

function readEntity(bytes: Uint8Array, at: number, writer: ViewWriter): number {
  if (bytes[at + 1] === 0x23) return readNumericEntity(bytes, at, writer);
  const entity = ENTITIES.find(([name]) => name.every((byte, n) => bytes[at + n] === byte));
  if (!entity) return 0;
  const [name, sign] = entity;
  writer.push(sign, at, at + name.length);
  return name.length;
}

function readNumericEntity(bytes: Uint8Array, at: number, writer: ViewWriter): number {
  const hex = ((bytes[at + 2] ?? 0) | 0x20) === 0x78;
  const first = at + (hex ? 3 : 2);
  const digits = bytes.subarray(first, first + ENTITY_DIGITS + 1).indexOf(SEMICOLON);
  if (digits < 1) return 0;
  const code = hex ? readHex(bytes, first, digits) : readDecimal(bytes, first, digits);
  return writeCode(code, { at, length: first + digits + 1 - at }, writer);
}

/** Writes the bytes of a character and returns `length`; writes nothing and returns 0 for an invalid code point. */
function writeCode(
  code: number | undefined,
  { at, length }: { at: number; length: number },
  writer: ViewWriter,
): number {
  if (code === undefined || code > 0x10ffff) return 0;
  if (code < 0x80) writer.push(code, at, at + length);
  else for (const byte of encode(String.fromCodePoint(code))) writer.push(byte, at, at + length);
  return length;
}

function readHex(bytes: Uint8Array, first: number, digits: number): number | undefined {
  let value = 0;
  for (let at = first; at < first + digits; at++) {
    const digit = hexValue(bytes[at]);
    if (digit < 0) return undefined;
    value = value * 16 + digit;
  }
  return value;
}

/** Returns the digit's value; -1 for a byte that is not a digit. */
export function hexValue(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function readDecimal(bytes: Uint8Array, first: number, digits: number): number | undefined {
  let value = 0;
  for (const byte of bytes.subarray(first, first + digits)) {
    if (byte < 0x30 || byte > 0x39) return undefined;
    value = value * 10 + (byte - 0x30);
  }
  return value;
}
