/**
 * The patterns to search for one secret. Texts are decoded before they are searched, so a secret has few forms:
 * F1. The value, and each form that decoding makes of it, since it may contain what looks like an escape.
 * F2. Each form of F1 with `+` for its spaces, as HTML forms and Python's quote_plus write them.
 * F3. For a value of several lines, each line that is long enough to be distinctive (not the armour of a PEM); and the value without
 *     spaces and line breaks, which is searched in texts without them.
 */
import { unescapeOnce } from './unescape.ts';
import { encode, withoutSpaces } from './view.ts';

/** Levels of nested escapes that are decoded in texts and secrets. */
export const LEVELS = 6;
/** The shortest decoded form in characters: shorter ones would match ordinary text. */
const SHORTEST_DECODED = 4;
/** The shortest line in characters that is searched on its own, and the shortest value without its spaces. */
const SHORTEST_LINE = 16;
const ARMOUR = /^-----(BEGIN|END) [^-]*-----$/;

export interface SecretForms {
  readonly plain: readonly Uint8Array[];
  readonly lines: readonly Uint8Array[];
  /** Forms without spaces and line breaks. */
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

/** F1: the value and its decoded forms. */
function decodedForms(value: string): Uint8Array[] {
  const forms = [encode(value)];
  let bytes: Uint8Array | undefined = forms[0];
  for (let level = 0; level < LEVELS && bytes; level++) {
    bytes = unescapeOnce({ bytes })?.bytes;
    if (bytes && new TextDecoder().decode(bytes).trim().length >= SHORTEST_DECODED) forms.push(bytes);
  }
  return forms;
}

/** F2: `+` for spaces. */
function withPlus(forms: readonly Uint8Array[]): Uint8Array[] {
  return forms.flatMap((bytes) =>
    bytes.includes(0x20) ? [bytes, bytes.map((byte) => (byte === 0x20 ? 0x2b : byte))] : [bytes],
  );
}
