/** Generates identifiers of a given length that do not occur in a text. */
import { randomBytes } from 'node:crypto';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz$_ABCD';

/**
 * Random, so that no source can be written to contain the name, not even with escapes. The leading `$` avoids reserved
 * words.
 */
export function freshName(length: number, text: string): string {
  for (;;) {
    const letters = Array.from(randomBytes(length - 1), (byte) => LETTERS[byte % LETTERS.length]);
    const name = `$${letters.join('')}`;
    if (!text.includes(name)) return name;
  }
}
