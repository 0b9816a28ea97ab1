/**
 * PostgreSQL's text cannot hold the character NUL, which tools that read files, and models, do produce. It is written
 * as two characters that Unicode reserves for internal use of a program, and converted back when it is read. The same
 * text is always written in the same way, so comparisons and keys still work.
 */

const MARK = '\uFDD0';
const NUL = `${MARK}\uFDD2`;
const MARK_ITSELF = `${MARK}\uFDD1`;

export function toPostgresText(text: string): string {
  if (!text.includes('\0') && !text.includes(MARK)) return text;
  return text.replaceAll(MARK, MARK_ITSELF).replaceAll('\0', NUL);
}

export function fromPostgresText(text: string): string {
  if (!text.includes(MARK)) return text;
  return text.replaceAll(NUL, '\0').replaceAll(MARK_ITSELF, MARK);
}
