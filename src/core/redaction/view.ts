/**
 * A text as bytes, with the position of each byte in the text: what is found in a decoded view is removed from the original.
 * - A byte covers its whole character, and the whole escape or digits that encode it: none is ever cut in half.
 */

export interface View {
  /** UTF-8. SEPARATOR separates parts that are not adjacent in the text. */
  readonly bytes: Uint8Array;
  /** UTF-16 positions in the original text: byte n was read from `from[n]` up to `to[n]`. Absent: byte n is unit n. */
  readonly from?: Int32Array;
  readonly to?: Int32Array;
  /** True if the bytes were decoded from digits: short finds within them do not count (redactor.ts, R1). */
  readonly digits?: boolean;
}

/** Never a byte of UTF-8, so no pattern contains it. */
export const SEPARATOR = 0xff;

export const startOf = ({ from }: View, at: number): number => (from ? (from[at] as number) : at);
export const endOf = ({ to }: View, at: number): number => (to ? (to[at] as number) : at + 1);

/** Lone surrogates become the replacement character, in texts and in patterns alike. */
export function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function viewOf(text: string): View {
  const bytes = encode(text);
  if (bytes.length === text.length) return { bytes };
  const from = new Int32Array(bytes.length);
  const to = new Int32Array(bytes.length);
  for (let at = 0, unit = 0; at < bytes.length; ) {
    const lead = bytes[at] as number;
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const units = length === 4 ? 2 : 1;
    for (const end = at + length; at < end; at++) {
      from[at] = unit;
      to[at] = unit + units;
    }
    unit += units;
  }
  return { bytes, from, to };
}

/** Collects the bytes of a view that is derived from another one; never more than its capacity. */
export interface ViewWriter {
  readonly length: number;
  /** Appends a byte that was decoded from the bytes `first` (inclusive) to `end` (exclusive) of the source view. */
  push(byte: number, first: number, end: number): void;
  finish(): View;
}

export function createViewWriter(source: View, capacity = source.bytes.length): ViewWriter {
  const bytes = new Uint8Array(capacity);
  const from = new Int32Array(capacity);
  const to = new Int32Array(capacity);
  let length = 0;
  return {
    get length() {
      return length;
    },
    push(byte, first, end) {
      bytes[length] = byte;
      from[length] = startOf(source, first);
      to[length] = endOf(source, end - 1);
      length += 1;
    },
    finish: () => ({
      bytes: bytes.subarray(0, length),
      from: from.subarray(0, length),
      to: to.subarray(0, length),
    }),
  };
}

const SPACES = new Set([0x20, 0x09, 0x0a, 0x0d]);

export function isSpace(byte: number | undefined): boolean {
  return byte !== undefined && SPACES.has(byte);
}

/** The view without spaces and line breaks. */
export function withoutSpaces(view: View): View {
  const writer = createViewWriter(view);
  for (let at = 0; at < view.bytes.length; at++) {
    const byte = view.bytes[at] as number;
    if (!isSpace(byte)) writer.push(byte, at, at + 1);
  }
  return writer.finish();
}
