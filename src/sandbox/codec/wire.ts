/**
 * The format in which values cross between host and sandbox. Neither side ever accesses the other's objects, nor does
 * the process between them: a value is written as text and bytes on one side and rebuilt on the other.
 *
 * `text` is the JSON of an array, the table: the value's slot, the nodes, and a text with one kind letter for each.
 *   slot   string | finite number | true | false | null | [place of a node]
 *          | ['u'] undefined | ['n', 'NaN' | 'Infinity' | '-Infinity' | '-0'] | ['b', hexadecimal digits] bigint
 *   V      the place of the value's own slot, 0
 *   O      {key: slot, …}                plain object; used as parsed, with its slots replaced in place
 *   A      [slot, …]                     array, likewise
 *   a      [length, key, slot, …]        array with holes or named properties; keys are indices, then strings
 *   M      [slot, slot, …]               Map
 *   S      [slot, …]                     Set
 *   D      milliseconds | null           Date, null when invalid
 *   B      [kind, length]                ArrayBuffer, DataView, typed array: the next `length` of `bytes`
 *   R      [source, flags]               RegExp
 *   E      [name, message]               Error; its stack and other properties are not sent
 *   F      [id, name]                    a function of the writing side
 *   f      id                            a function of the reading side, sent back to it
 *   T      text | 0                      the text that replaces a value that is only displayed; 0 if it was too large
 * Cycles and shared references are written as places, so no value is written twice. Nodes are ordered by their first
 * reference, level by level: the reader knows the depth without recursion, and that every node is used.
 */
import { lengthOf } from './binary.ts';

export interface Wire {
  readonly text: string;
  readonly bytes?: Uint8Array<ArrayBuffer>;
}

/** Limits of what one transfer may hold and cost. */
export interface EncodeLimits {
  readonly maxBytes: number;
  readonly maxElements: number;
  readonly maxDepth: number;
  /** For values that are only displayed: longer texts are cut. */
  readonly maxText?: number;
  /** For a reader: the CPU time that a transfer may take, and the clock that measures it. */
  readonly work?: WorkLimit;
}

export interface WorkLimit {
  readonly freeMs: number;
  readonly msPerElement: number;
  spentMs(): number;
}

/** Maps functions to ids. The side that owns a function assigns its id. */
export interface FunctionTable {
  /** Returns the id under which the other side may call `fn`; throws if too many functions were given. */
  give(fn: (...args: never[]) => unknown): number;
  /** Returns the proxy of the other side's function; always the same proxy for the same id. */
  take(id: number, name: string): unknown;
  /** Returns the id of a proxy that `take` made, with which it is sent back to its own side. */
  homeId(fn: unknown): number | undefined;
  /** Returns the function of this side that was given as `id`. */
  home(id: number): unknown;
}

/** Size of a wire as both sides account for it; text is counted in UTF-16 units. */
export function wireBytes({ text, bytes }: Wire): number {
  return text.length + (bytes === undefined ? 0 : lengthOf(bytes));
}

/** An empty Map takes ten characters of text but hundreds of bytes of memory; an empty object four, and tens. */
const HEAVY_BYTES = 256;
const LIGHT_BYTES = 48;

/** Estimates from a wire how many bytes of memory its value takes once it is decoded. */
export function estimateMemory(wire: Wire): number {
  const { text } = wire;
  let kept = wireBytes(wire);
  // The text ends with the kinds, in quotes.
  for (let at = text.length - 3; at >= 0 && text[at] !== '"'; at--) {
    const kind = text[at]!;
    if (kind === 'O' || kind === 'A' || kind === 'a' || kind === 'D') kept += LIGHT_BYTES;
    else if (kind !== 'T' && kind !== 'V') kept += HEAVY_BYTES;
  }
  return kept;
}

/** Replaces a value that is over the limits in a log. */
export const TOO_LARGE = '[Too large]';

/** Function names are cut to this length. */
export const NAME_LENGTH = 64;

/** Number of elements that a costly node counts as. An Error costs most, because of its stack. */
export const HEAVY_COST = 8;
export const HEAVY_ERROR_COST = 32;
