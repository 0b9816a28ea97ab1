/**
 * Estimates the cost of constructing a regular expression. Most of a source is parsed once. With the flag `u` or `v`,
 * however, the engine computes character classes as sets over all of Unicode immediately: a class of eight characters
 * takes a fraction of a millisecond, a property of strings takes three, and a transfer full of them would block a
 * thread for an hour.
 */

/** Maximum cost in one transfer: 65,536 characters, or 4,096 with the flag `u` or `v`, or 30 property escapes. */
export const REGEXP_COST = 65_536;
const UNICODE = 16;
const PROPERTY = 2_048;

export function regexpCost(source: string, flags: string): number {
  const { length } = source;
  if (!isUnicode(flags)) return length;
  let cost = length * UNICODE;
  for (let i = 0; i < length && cost <= REGEXP_COST; i++) {
    if (source[i] !== '\\') continue;
    i += 1;
    if (source[i] === 'p' || source[i] === 'P') cost += PROPERTY;
  }
  return cost;
}

function isUnicode(flags: string): boolean {
  for (let i = 0; i < flags.length; i++) if (flags[i] === 'u' || flags[i] === 'v') return true;
  return false;
}
