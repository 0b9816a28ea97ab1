/**
 * PostgreSQL's text cannot hold the character NUL; tools that read files, and models, do produce it. It is written as
 * two characters that Unicode keeps for a program's own use, and read back as what it was. The same text is always
 * written in the same way, so comparisons and keys hold.
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
