/**
 * What to look for of one secret. Texts are decoded before they are searched, so a secret has few forms of its own:
 * F1. The value, and what is left of it when it is decoded as texts are: it may hold what looks like an escape.
 * F2. Each of these with `+` for its spaces, as forms and Python's quote_plus write them.
 * F3. Of a value in lines, each line that is long enough to be known by (not the armour of a PEM); and all of it without
 *     spaces and line breaks, to be found in texts without such.
 */
import { unescapeOnce } from './unescape.ts';
import { encode, withoutSpaces } from './view.ts';

/** Escapes within escapes that are taken out of texts and secrets. */
export const LEVELS = 6;
/** Characters of a decoded form: below, ordinary text would be torn apart. */
const SHORTEST_DECODED = 4;
/** Characters of a line that is looked for on its own, and of what is looked for without its spaces. */
const SHORTEST_LINE = 16;
const ARMOUR = /^-----(BEGIN|END) [^-]*-----$/;

export interface SecretForms {
  readonly plain: readonly Uint8Array[];
  readonly lines: readonly Uint8Array[];
  /** Without spaces and line breaks. */
  readonly joined: readonly Uint8Array[];
}

export function formsOf(value: string): SecretForms {
  const plain = withPlus(decodedForms(value));
  const trimmed = value.trim();
  if (!/[\r\n]/.test(trimmed)) return { plain, lines: [], joined: [] };
  const lines = trimmed
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line.length >= SHORTEST_LINE && !ARMOUR.test(line));
  const joined = withoutSpaces({ bytes: encode(trimmed) }).bytes;
  return { plain, lines: lines.map(encode), joined: joined.length < SHORTEST_LINE ? [] : [joined] };
}

/** F1. */
function decodedForms(value: string): Uint8Array[] {
  const forms = [encode(value)];
  let bytes: Uint8Array | undefined = forms[0];
  for (let level = 0; level < LEVELS && bytes; level++) {
    bytes = unescapeOnce({ bytes })?.bytes;
    if (bytes && new TextDecoder().decode(bytes).trim().length >= SHORTEST_DECODED) forms.push(bytes);
  }
  return forms;
}

/** F2. */
function withPlus(forms: readonly Uint8Array[]): Uint8Array[] {
  return forms.flatMap((bytes) =>
    bytes.includes(0x20) ? [bytes, bytes.map((byte) => (byte === 0x20 ? 0x2b : byte))] : [bytes],
  );
}
