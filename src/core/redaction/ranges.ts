/**
 * Merges finds in a text. Overlapping finds become one, whose owner is that of the find that begins first, or of the
 * longer one if two begin together. Everything here is linear in the number of finds.
 */

export interface Range {
  readonly start: number;
  readonly end: number;
  readonly owner: number;
}

export interface RangeList {
  /** Finds arrive in the order of their ends. */
  add(start: number, end: number, owner: number): void;
  readonly ranges: readonly Range[];
}

/** Merges finds as they arrive: a text may have one at each position. */
export function createRangeList(): RangeList {
  const ranges: { start: number; end: number; owner: number }[] = [];
  const add: RangeList['add'] = (start, end, owner) => {
    let last = ranges.at(-1);
    if (last === undefined || last.end <= start) {
      ranges.push({ start, end, owner });
      return;
    }
    for (let before = ranges.at(-2); before && before.end > start; before = ranges.at(-2)) {
      ranges.pop();
      last = before;
    }
    last.end = end;
    if (start > last.start) return;
    last.start = start;
    last.owner = owner;
  };
  return { add, ranges };
}

/** Merges two lists without overlaps, in the order of their starts. */
export function union(a: readonly Range[], b: readonly Range[]): readonly Range[] {
  if (b.length === 0) return a;
  if (a.length === 0) return b;
  const merged: Range[] = [];
  let [left, right] = [0, 0];
  while (left < a.length || right < b.length) {
    const [one, other] = [a[left], b[right]];
    const takesLeft = one && (!other || isBefore(one, other));
    const next = (takesLeft ? one : other) as Range;
    if (takesLeft) left += 1;
    else right += 1;
    const last = merged.at(-1);
    if (last && next.start < last.end) merged[merged.length - 1] = join(last, next);
    else merged.push(next);
  }
  return merged;
}

function isBefore(one: Range, other: Range): boolean {
  return one.start < other.start || (one.start === other.start && one.end >= other.end);
}

function join(one: Range, other: Range): Range {
  const { start, owner } = isBefore(one, other) ? one : other;
  return { start, end: Math.max(one.end, other.end), owner };
}
