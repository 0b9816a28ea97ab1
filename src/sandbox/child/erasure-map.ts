/**
 * Maps a column of the erased text back to the author's text. Lines are the same in both, so the tokens of a line are
 * matched with those of the author's line, types left out. Used only for errors: it costs another erasure.
 *
 * sucrase's own source maps cannot be used: they end at the first template literal that begins or ends with a
 * substitution, because two tokens then start at one offset, and every column after them is undefined.
 */
import { eraseTypes, readTokens } from './erase-types.ts';
import type { Position, SourceModule } from './source-module.ts';

export type ErasureMap = (position: Position) => Position;

interface Word {
  readonly text: string;
  readonly column: number;
}

/** Beyond this many (a line of generated code), only the common beginning and end of two lines are matched. */
const MAX_COMPARISONS = 1_000_000;

export function createErasureMap(module: SourceModule): ErasureMap {
  const authored = wordsByLine(module.source);
  const erased = wordsByLine(eraseTypes(module));
  const lines = module.source.split('\n');
  return ({ line, column }) => {
    const words = erased[line - 1] ?? [];
    const at = words.findLastIndex((word) => word.column <= column);
    if (at === -1) return { line, column };
    const theirs = authored[line - 1] ?? [];
    const partners = matchWords(words, theirs);
    // Text that the erasure adds (for enums, parameter properties) is mapped to the position of the text before it.
    const own = partners.findLastIndex((partner, index) => partner !== undefined && index <= at);
    if (own === -1) return { line, column: Math.min(column, endOf(lines[line - 1])) };
    const { column: start } = theirs[partners[own] as number] as Word;
    const within = own === at ? column - (words[at] as Word).column : 0;
    return { line, column: Math.min(start + within, endOf(lines[line - 1])) };
  };
}

function endOf(line = ''): number {
  return line.length + 1;
}

function wordsByLine(text: string): readonly (readonly Word[])[] {
  const lines: Word[][] = [[]];
  let lineStart = 0;
  let next = text.indexOf('\n');
  for (const { start, end, isType } of readTokens(text)) {
    for (; next !== -1 && next < start; next = text.indexOf('\n', lineStart)) {
      lineStart = next + 1;
      lines.push([]);
    }
    if (!isType && end > start)
      lines.at(-1)?.push({ text: text.slice(start, end), column: start - lineStart + 1 });
  }
  return lines;
}

/** Returns for each of `words` the index of its match in `others`, by a longest common subsequence. */
function matchWords(words: readonly Word[], others: readonly Word[]): readonly (number | undefined)[] {
  const partners = Array<number | undefined>(words.length).fill(undefined);
  const like = (a: number, b: number) => words[a]?.text === others[b]?.text;
  let start = 0;
  let [wordsEnd, othersEnd] = [words.length, others.length];
  for (; start < wordsEnd && start < othersEnd && like(start, start); start += 1) partners[start] = start;
  for (; wordsEnd > start && othersEnd > start && like(wordsEnd - 1, othersEnd - 1); ) {
    wordsEnd -= 1;
    othersEnd -= 1;
    partners[wordsEnd] = othersEnd;
  }
  const width = othersEnd - start + 1;
  if ((wordsEnd - start) * width > MAX_COMPARISONS) return partners;
  // lengths[a, b]: length of the longest common subsequence of the words from a on and the others from b on.
  const lengths = new Uint32Array((wordsEnd - start + 1) * width);
  const cell = (a: number, b: number) => (a - start) * width + (b - start);
  const lengthAt = (a: number, b: number) => lengths[cell(a, b)] as number;
  for (let a = wordsEnd - 1; a >= start; a -= 1) {
    for (let b = othersEnd - 1; b >= start; b -= 1) {
      lengths[cell(a, b)] = like(a, b)
        ? lengthAt(a + 1, b + 1) + 1
        : Math.max(lengthAt(a + 1, b), lengthAt(a, b + 1));
    }
  }
  for (let a = start, b = start; a < wordsEnd && b < othersEnd; ) {
    if (like(a, b)) {
      partners[a] = b;
      a += 1;
      b += 1;
    } else if (lengthAt(a + 1, b) >= lengthAt(a, b + 1)) a += 1;
    else b += 1;
  }
  return partners;
}
