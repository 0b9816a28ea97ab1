/**
 * Makes untrusted text of models, tools and users safe to be shown, in a terminal and elsewhere.
 * - No text reaches a terminal as a command: control characters and marks that change the direction of text are shown
 *   as visible signs, except line breaks and tabs.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: this file is about control characters.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Keeps `\n` and `\t`; an ESC becomes `␛`, a C1 control or an override `\u{9b}`. */
export function escapeControls(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(CONTROL, toEscape);
}

/** Code units of a text that are read for each character that is shown: runs of spaces become one. */
const READ_AHEAD = 16;

/** One line of at most `length` characters, for lists and short notes. Long texts cost no more than short ones. */
export function shorten(text: string, length: number): string {
  const begin = text.slice(0, READ_AHEAD * length);
  const line = escapeControls(begin).replace(/\s+/g, ' ').trim();
  const characters = [...line];
  if (characters.length <= length && begin.length === text.length) return line;
  return `${characters.slice(0, length - 1).join('')}…`;
}

function toEscape(character: string): string {
  const code = character.codePointAt(0) as number;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '␡' : `\\u{${code.toString(16)}}`;
}
