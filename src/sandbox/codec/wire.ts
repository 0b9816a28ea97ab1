/**
 * What crosses between host and sandbox. Neither side ever sees the other's objects, nor does the process between
 * them: a value is written as text and bytes on one side and built anew on the other.
 *
 * `text` is the JSON of a table: the value's slot, the nodes, and last the kinds, one letter for each place before.
 *   slot   string | finite number | true | false | null | [place of a node]
 *          | ['u'] undefined | ['n', 'NaN' | 'Infinity' | '-Infinity' | '-0'] | ['b', hexadecimal digits] bigint
 *   V      the place of the value's own slot, 0
 *   O      {key: slot, …}                plain object; parsing makes it, and slots are replaced where they stand
 *   A      [slot, …]                     array, likewise
 *   a      [length, key, slot, …]        array with holes or with names; keys are indices, then strings
 *   M      [slot, slot, …]               Map
 *   S      [slot, …]                     Set
 *   D      milliseconds | null           Date, null when invalid
 *   B      [kind, length]                ArrayBuffer, DataView, typed array: the next `length` of `bytes`
 *   R      [source, flags]               RegExp
 *   E      [name, message]               Error; its stack and other properties stay where they are
 *   F      [id, name]                    a function of the writing side
 *   f      id                            a function of the reading side, come home
 *   T      text | 0                      the text that stands for something only shown; 0 when it was too large
 * Cycles and shared references are places, so nothing grows by being written. A node stands where its first reference
 * comes in reading order, level by level: the reader sees the depth without recursion, and that nothing is idle.
 */
import { lengthOf } from './binary.ts';

export interface Wire {
  readonly text: string;
  readonly bytes?: Uint8Array<ArrayBuffer>;
}

/** What one transfer may hold, and what it may cost. */
export interface EncodeLimits {
  readonly maxBytes: number;
  readonly maxElements: number;
  readonly maxDepth: number;
  /** For what is only shown: longer texts are cut. */
  readonly maxText?: number;
  /** For a reader: the processor time that a transfer may take, and the clock that tells it. */
  readonly work?: WorkLimit;
}

export interface WorkLimit {
  readonly freeMs: number;
  readonly msPerElement: number;
  spentMs(): number;
}

/** How functions cross. Ids are the writing side's own. */
export interface FunctionTable {
  /** The id under which the other side may call `fn`; throws when too many were given. */
  give(fn: (...args: never[]) => unknown): number;
  /** The proxy of the other side's function; the same proxy for the same id. */
  take(id: number, name: string): unknown;
  /** The id of a proxy that `take` made, for its way home. */
  homeId(fn: unknown): number | undefined;
  /** The function of this side that was given as `id`. */
  home(id: number): unknown;
}

/** What a wire weighs in the books of both sides; text is counted in UTF-16 units. */
export function wireBytes({ text, bytes }: Wire): number {
  return text.length + (bytes === undefined ? 0 : lengthOf(bytes));
}

/** An empty Map is ten characters of text, and hundreds of bytes of memory; an empty object is four, and tens. */
const HEAVY_BYTES = 256;
const LIGHT_BYTES = 48;

/** How much memory a value takes once it is read, estimated from its wire. */
export function keptBytes(wire: Wire): number {
  const { text } = wire;
  let kept = wireBytes(wire);
  // The kinds are what the text ends with, in quotes.
  for (let at = text.length - 3; at >= 0 && text[at] !== '"'; at--) {
    const kind = text[at]!;
    if (kind === 'O' || kind === 'A' || kind === 'a' || kind === 'D') kept += LIGHT_BYTES;
    else if (kind !== 'T' && kind !== 'V') kept += HEAVY_BYTES;
  }
  return kept;
}

/** What stands in a log for what is over the limits. */
export const TOO_LARGE = '[Too large]';

/** The name of a function is cut to this. */
export const NAME_LENGTH = 64;

/** Some nodes cost their reader as much as so many elements, and count so; an Error most, for its stack is taken. */
export const HEAVY = 8;
export const HEAVY_ERROR = 32;
