/** Identifiers of a given length that a text does not hold. */
import { randomBytes } from 'node:crypto';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz$_ABCD';

/**
 * Random, so that no source can be written to hold one, not even with escapes. The `$` in front keeps clear of
 * reserved words.
 */
export function freshName(length: number, text: string): string {
  for (;;) {
    const letters = Array.from(randomBytes(length - 1), (byte) => LETTERS[byte % LETTERS.length]);
    const name = `$${letters.join('')}`;
    if (!text.includes(name)) return name;
  }
}
