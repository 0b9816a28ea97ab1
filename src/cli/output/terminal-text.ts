/**
 * Makes untrusted text of models, tools and users safe for a terminal.
 * - No text reaches the terminal as a command: control characters and bidirectional overrides are shown as visible
 *   signs, except line breaks and tabs.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: this file is about control characters.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Keeps `\n` and `\t`; an ESC becomes `␛`, a C1 control or an override `\u{9b}`. */
export function escapeControls(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(CONTROL, toEscape);
}

/** One line of at most `length` characters, for lists and short notes. */
export function shorten(text: string, length: number): string {
  const line = escapeControls(text).replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length <= length ? line : `${characters.slice(0, length - 1).join('')}…`;
}

function toEscape(character: string): string {
  const code = character.codePointAt(0) as number;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '␡' : `\\u{${code.toString(16)}}`;
}
