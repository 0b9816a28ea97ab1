/**
 * The tables of an Aho-Corasick automaton: a trie of patterns, and for each state its fail link, which leads to the longest proper
 * suffix of the state's text that is a prefix of some pattern.
 * - States are numbered breadth first over sorted patterns: the children of a state are contiguous, in the order of their
 *   bytes, and a state's fail link always points to a smaller number.
 */

/** The most bytes of a pattern that are in the tables; a longer pattern is searched for by its head. */
export const HEAD = 256;

export interface Pattern {
  readonly bytes: Uint8Array;
  /** The caller's number of the pattern. */
  readonly owner: number;
}

export interface Tables {
  /** `first[s]` to `first[s + 1]`: the children of s. */
  readonly first: Int32Array;
  /** The byte that leads to a state. */
  readonly label: Uint8Array;
  readonly depth: Uint16Array;
  readonly fail: Int32Array;
  /** A pattern that passes through the state, as a position in the sorted list. */
  readonly through: Int32Array;
  /** The longest pattern that ends with the state, as a position in the sorted list; -1 if none does. */
  readonly ends: Int32Array;
}

export interface SortedPattern extends Pattern {
  readonly head: Uint8Array;
}

export function sortPatterns(patterns: readonly Pattern[]): SortedPattern[] {
  return patterns
    .filter(({ bytes }) => bytes.length > 0)
    .map((pattern) => ({ ...pattern, head: pattern.bytes.subarray(0, HEAD) }))
    .sort((a, b) => compare(a.head, b.head) || a.bytes.length - b.bytes.length);
}

export function buildTables(sorted: readonly SortedPattern[]): Tables {
  return link(grow(sorted));
}

export function compare(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const difference = (a[at] as number) - (b[at] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** The trie, level by level: a state is a range of sorted patterns that agree so far. */
function grow(sorted: readonly SortedPattern[]): Tables {
  const size = 1 + countStates(sorted);
  const tables: Tables = {
    first: new Int32Array(size + 1),
    label: new Uint8Array(size),
    depth: new Uint16Array(size),
    fail: new Int32Array(size),
    through: new Int32Array(size),
    ends: new Int32Array(size).fill(-1),
  };
  const low = new Int32Array(size);
  const high = new Int32Array(size);
  high[0] = sorted.length;
  let next = 1;
  for (let state = 0; state < size; state++) {
    tables.first[state] = next;
    const depth = tables.depth[state] as number;
    const end = high[state] as number;
    for (let at = low[state] as number; at < end; ) {
      const { head } = sorted[at] as SortedPattern;
      if (head.length === depth) {
        // Equal patterns are found under the first one: finds are grouped by its position.
        if (tables.ends[state] === -1) tables.ends[state] = at;
        at += 1;
        continue;
      }
      const begin = at;
      while (at < end && (sorted[at] as SortedPattern).head[depth] === head[depth]) at += 1;
      tables.label[next] = head[depth] as number;
      tables.depth[next] = depth + 1;
      tables.through[next] = begin;
      low[next] = begin;
      high[next] = at;
      next += 1;
    }
  }
  tables.first[size] = next;
  return tables;
}

/** Each sorted pattern adds a state for every byte that it does not share with the one before. */
function countStates(sorted: readonly SortedPattern[]): number {
  let states = 0;
  let before: Uint8Array = new Uint8Array();
  for (const { head } of sorted) {
    let shared = 0;
    while (shared < before.length && shared < head.length && before[shared] === head[shared]) shared += 1;
    states += head.length - shared;
    before = head;
  }
  return states;
}

/** Sets the fail links, and the matches that states inherit over them, in the order of the states' numbers. */
function link(tables: Tables): Tables {
  const { first, label, fail, ends } = tables;
  for (let state = 0; state < label.length; state++) {
    for (let child = first[state] as number; child < (first[state + 1] as number); child++) {
      const byte = label[child] as number;
      let back = fail[state] as number;
      let target = state === 0 ? 0 : childOf(tables, back, byte);
      while (target === 0 && back !== 0) {
        back = fail[back] as number;
        target = childOf(tables, back, byte);
      }
      fail[child] = target;
      if (ends[child] === -1) ends[child] = ends[target] as number;
    }
  }
  return tables;
}

/** Returns the child for a byte; 0 if there is none, since the root is never a child. */
export function childOf({ first, label }: Tables, state: number, byte: number): number {
  let low = first[state] as number;
  let high = (first[state + 1] as number) - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = label[middle] as number;
    if (found === byte) return middle;
    if (found < byte) low = middle + 1;
    else high = middle - 1;
  }
  return 0;
}
