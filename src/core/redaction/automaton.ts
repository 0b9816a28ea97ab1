/**
 * Aho-Corasick over bytes in flat tables: finds, at each position of a text, the longest pattern that ends there.
 * - The search is linear for any patterns: each byte costs one move forward, and moves back never exceed the moves
 *   forward before them. `steps` counts both.
 * - Only the first HEAD bytes of a pattern are in the tables, so that large secrets take little memory; if such a
 *   head was found, Knuth-Morris-Pratt searches for the whole pattern, once per text.
 */

import { createRangeList, type Range, type RangeList } from './ranges.ts';
import {
  buildTables,
  childOf,
  compare,
  HEAD,
  type Pattern,
  type SortedPattern,
  sortPatterns,
  type Tables,
} from './trie.ts';

export type { Pattern } from './trie.ts';

export interface Search {
  /** Ranges of bytes; overlapping finds are merged within each list. */
  readonly finds: readonly (readonly Range[])[];
  /** How much of a pattern the end of the text matches, and which pattern: the text may have been cut there. */
  readonly tail: { readonly length: number; readonly owner: number };
  readonly steps: number;
}

export type Accepts = (start: number, end: number) => boolean;

export interface Automaton {
  readonly states: number;
  /** `accepts` decides which finds count. */
  search(bytes: Uint8Array, accepts?: Accepts): Search;
}

interface Machine {
  readonly tables: Tables;
  readonly sorted: readonly SortedPattern[];
  /** Patterns longer than HEAD bytes, by the position of the first one with the same head. */
  readonly long: ReadonlyMap<number, readonly SortedPattern[]>;
}

export function createAutomaton(patterns: readonly Pattern[]): Automaton {
  const sorted = sortPatterns(patterns);
  const machine = { tables: buildTables(sorted), sorted, long: groupLong(sorted) };
  return {
    states: machine.tables.label.length,
    search: (bytes, accepts = () => true) => search(machine, bytes, accepts),
  };
}

function groupLong(sorted: readonly SortedPattern[]): ReadonlyMap<number, readonly SortedPattern[]> {
  const groups = new Map<number, SortedPattern[]>();
  let leader = 0;
  for (const [index, pattern] of sorted.entries()) {
    const before = sorted[leader];
    if (!before || compare(before.head, pattern.head) !== 0) leader = index;
    if (pattern.bytes.length <= HEAD) continue;
    const group = groups.get(leader) ?? [];
    group.push(pattern);
    groups.set(leader, group);
  }
  return groups;
}

function search({ tables, sorted, long }: Machine, bytes: Uint8Array, accepts: Accepts): Search {
  const { fail, ends } = tables;
  const root = rootTable(tables);
  const finds = createRangeList();
  const heads = new Map<number, number>();
  let state = 0;
  let steps = bytes.length;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    let next = state === 0 ? (root[byte] as number) : childOf(tables, state, byte);
    while (next === 0 && state !== 0) {
      steps += 1;
      state = fail[state] as number;
      next = state === 0 ? (root[byte] as number) : childOf(tables, state, byte);
    }
    state = next;
    let found = ends[state] as number;
    if (found === -1) continue;
    if (long.has(found) && !heads.has(found)) heads.set(found, at + 1 - HEAD);
    // A head alone is not a find, and would hide the shorter pattern that ends with it.
    if ((sorted[found] as SortedPattern).bytes.length > HEAD) found = ends[fail[state] as number] as number;
    if (found !== -1) addFind(finds, sorted[found] as SortedPattern, at + 1, accepts);
  }
  const through = sorted[tables.through[state] as number];
  const tail = state === 0 ? NO_TAIL : { length: tables.depth[state] as number, owner: through?.owner ?? -1 };
  const whole = [...heads].flatMap(([leader, from]) =>
    (long.get(leader) ?? []).map((pattern) => searchOne(pattern, bytes, from, accepts)),
  );
  return joinSearches([{ finds: [finds.ranges], tail, steps }, ...whole]);
}

const NO_TAIL = { length: 0, owner: -1 };

function rootTable({ first, label }: Tables): Int32Array {
  const table = new Int32Array(256);
  for (let child = first[0] as number; child < (first[1] as number); child++)
    table[label[child] as number] = child;
  return table;
}

function addFind(finds: RangeList, { bytes, owner }: Pattern, end: number, accepts: Accepts): void {
  const start = end - bytes.length;
  if (accepts(start, end)) finds.add(start, end, owner);
}

/** Knuth-Morris-Pratt from the first position at which the pattern can begin. */
function searchOne(pattern: Pattern, text: Uint8Array, from: number, accepts: Accepts): Search {
  const { bytes, owner } = pattern;
  const borders = bordersOf(bytes);
  const finds = createRangeList();
  let matched = 0;
  let steps = bytes.length;
  for (let at = from; at < text.length; at++) {
    const byte = text[at] as number;
    steps += 1;
    if (matched === bytes.length) matched = borders[matched - 1] as number;
    while (matched > 0 && bytes[matched] !== byte) {
      steps += 1;
      matched = borders[matched - 1] as number;
    }
    if (bytes[matched] === byte) matched += 1;
    if (matched === bytes.length) addFind(finds, pattern, at + 1, accepts);
  }
  return { finds: [finds.ranges], tail: { length: matched, owner }, steps };
}

/** The failure function: for each prefix of a pattern, the longest suffix that is also a prefix. */
function bordersOf(bytes: Uint8Array): Int32Array {
  const borders = new Int32Array(bytes.length);
  let matched = 0;
  for (let at = 1; at < bytes.length; at++) {
    while (matched > 0 && bytes[matched] !== bytes[at]) matched = borders[matched - 1] as number;
    if (bytes[matched] === bytes[at]) matched += 1;
    borders[at] = matched;
  }
  return borders;
}

function joinSearches(searches: readonly Search[]): Search {
  return {
    finds: searches.flatMap(({ finds }) => finds),
    tail: searches.map(({ tail }) => tail).reduce((a, b) => (b.length > a.length ? b : a), NO_TAIL),
    steps: searches.reduce((sum, { steps }) => sum + steps, 0),
  };
}
