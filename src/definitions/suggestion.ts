/** Finds what an author meant: the known word nearest to a mistyped one. */

/**
 * Returns the nearest word if it is near enough for a typo, ignoring case: at most a third of the letters differ (or
 * one), or `word` is the beginning of it.
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  let best: { word: string; distance: number } | undefined;
  for (const candidate of known) {
    const distance = measure(word.toLowerCase(), candidate.toLowerCase());
    if (distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { word: candidate, distance };
  }
  const allowed = Math.max(1, Math.floor(word.length / 3));
  return best !== undefined && best.distance <= allowed ? best.word : undefined;
}

/** Returns ` Did you mean 'x'?` with a leading space, or an empty text. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const found = nearest(word, known);
  return found === undefined ? '' : ` Did you mean '${found}'?`;
}

/** Number of typos between two words. A word cut short (`dual` for `dual_ai`) counts as one. */
function measure(word: string, candidate: string): number {
  return word.length >= 3 && candidate.startsWith(word) ? 1 : editDistance(word, candidate);
}

/** Levenshtein distance, kept in one row. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
