/**
 * Decodes base64 (either alphabet, also broken into lines) and hex within a text. Each run of digits is decoded at
 * every alignment, since a secret can begin at any byte of what was encoded.
 * - Lines of one run may be broken by LF or CRLF and be indented; other spaces end a run.
 * - Base64 padding counts as part of the digit before it.
 */
import { hexValue } from './unescape.ts';
import { createViewWriter, isSpace, SEPARATOR, type View, type ViewWriter } from './view.ts';

interface Alphabet {
  /** Bits per digit. */
  readonly bits: number;
  /** Digits after which the alignment repeats. */
  readonly alignments: number;
  /** Values by byte; -1 for a byte that is not a digit. */
  readonly values: Int8Array;
  /** The shortest run that can hold a find. */
  readonly shortest: number;
}

function alphabet(
  bits: number,
  alignments: number,
  shortest: number,
  value: (byte: number) => number,
): Alphabet {
  return { bits, alignments, shortest, values: Int8Array.from({ length: 256 }, (_, byte) => value(byte)) };
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const URL_SIGNS: Readonly<Record<string, string>> = { '-': '+', _: '/' };

const ALPHABETS: readonly Alphabet[] = [
  alphabet(6, 4, 6, (byte) => {
    const sign = String.fromCharCode(byte);
    return BASE64.indexOf(URL_SIGNS[sign] ?? sign);
  }),
  alphabet(4, 2, 8, hexValue),
];

const PADDING = 0x3d;

/** Yields every decoding of the text's digits, one at a time, since each can be as large as the text. */
export function* decodedViews(view: View): Generator<View> {
  for (const digits of ALPHABETS) {
    const runs = findRuns(view, digits);
    if (runs.ends.length === 0) continue;
    for (let alignment = 0; alignment < digits.alignments; alignment++)
      yield decode(view, digits, runs, alignment);
  }
}

interface Runs {
  /** Positions of the digits, run after run. */
  readonly places: Int32Array;
  /** Number of digits up to the end of each run. */
  readonly ends: readonly number[];
}

function findRuns({ bytes }: View, { values, shortest }: Alphabet): Runs {
  const places = new Int32Array(bytes.length);
  const ends: number[] = [];
  let length = 0;
  let begin = 0;
  for (let at = 0; at <= bytes.length; ) {
    if (at < bytes.length && (values[bytes[at] as number] as number) >= 0) {
      places[length++] = at++;
      continue;
    }
    const next = length > begin ? skipLineBreak(bytes, at) : at;
    if (next > at && (values[bytes[next] ?? SEPARATOR] as number) >= 0) {
      at = next;
      continue;
    }
    if (length - begin >= shortest) ends.push(length);
    else length = begin;
    begin = length;
    at = Math.max(next, at + 1);
  }
  return { places, ends };
}

/** The position behind a line break and the next line's indentation; the same position if no line ends there. */
function skipLineBreak(bytes: Uint8Array, at: number): number {
  let next = at;
  let broken = false;
  while (isSpace(bytes[next])) {
    broken ||= bytes[next] === 0x0a || bytes[next] === 0x0d;
    next += 1;
  }
  return broken ? next : at;
}

function decode(view: View, digits: Alphabet, { places, ends }: Runs, alignment: number): View {
  const writer = createViewWriter(view, places.length + ends.length);
  let begin = 0;
  for (const end of ends) {
    decodeRun(view, digits, places.subarray(begin + alignment, end), writer);
    const last = places[end - 1] as number;
    // A find that ends with the text may be the start of a longer one.
    if (last < view.bytes.length - 1) writer.push(SEPARATOR, last, last + 1);
    begin = end;
  }
  return { ...writer.finish(), digits: true };
}

function decodeRun(
  { bytes }: View,
  { bits, values }: Alphabet,
  places: Int32Array,
  writer: ViewWriter,
): void {
  let held = 0;
  let value = 0;
  let first = 0;
  for (let n = 0; n < places.length; n++) {
    const place = places[n] as number;
    value = ((value << bits) | (values[bytes[place] as number] as number)) & 0xffff;
    held += bits;
    if (held < 8) {
      first = place;
      continue;
    }
    held -= 8;
    const last = n === places.length - 1 ? afterPadding(bytes, place + 1) : place + 1;
    writer.push((value >> held) & 0xff, first, last);
    // The remaining digit also begins the next byte.
    first = place;
  }
}

/** Skips the padding. */
function afterPadding(bytes: Uint8Array, at: number): number {
  let end = at;
  while (end < at + 2 && bytes[end] === PADDING) end += 1;
  return end;
}
