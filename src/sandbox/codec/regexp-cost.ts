/**
 * What it costs to construct a regular expression, before it is ever run. Most of a source is read once; where its classes are
 * sets of all of Unicode, the engine computes them at once: a class of eight characters takes a fraction of a millisecond, one of
 * the properties of strings three, and a transfer of such would keep a thread for an hour.
 */

/** What one transfer may hold: 65,536 characters, or 4,096 with the flag `u` or `v`, or 30 property escapes. */
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
