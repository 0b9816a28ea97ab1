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

/** How functions cross. Ids are the writing side's own. */
export interface FunctionDoor {
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

/** Of the kinds that HEAVY is said of. */
const HEAVY_KINDS = /[MSBREFf]/g;
const HEAVY_BYTES = 256;

/** What a value takes of the memory of whoever keeps it: an empty Map is ten characters, and hundreds of bytes. */
export function keptBytes(wire: Wire): number {
  const { text } = wire;
  // The kinds are what the text ends with.
  const kinds = text.slice(text.lastIndexOf('"', text.length - 3) + 1);
  return wireBytes(wire) + HEAVY_BYTES * (kinds.match(HEAVY_KINDS)?.length ?? 0);
}

/** What stands in a log for what is over the limits. */
export const TOO_LARGE = '[Too large]';

/** The name of a function is cut to this. */
export const NAME_LENGTH = 64;

/** Some nodes cost their reader as much as so many elements, and count so; an Error most, for its stack is taken. */
export const HEAVY = 8;
export const HEAVY_ERROR = 32;
