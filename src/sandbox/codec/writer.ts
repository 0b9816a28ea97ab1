/**
 * State of the writing side of a transfer: the text so far, the queue of values still to be written, and the remaining budget.
 * Nodes are numbered when first encountered and written in that order, so nesting never causes recursion.
 */
import { type Bytes, copy, growTo, lengthOf, trimmed } from './binary.ts';
import {
  BigIntOf,
  bigintText,
  cut,
  hasOwn,
  MapOf,
  mapGet,
  mapSet,
  stringify,
  Uint8ArrayOf,
} from './intrinsics.ts';
import {
  pathOf,
  type Refusal,
  SerializationError,
  type Step,
  symbolRefusal,
  type Via,
} from './serialization-error.ts';
import { type EncodeLimits, type FunctionTable, TOO_LARGE, type Wire } from './wire.ts';

export type { EncodeLimits } from './wire.ts';

/** A value that was encountered: its number is its position in the list. */
export interface Entry extends Step {
  readonly parent: Entry | undefined;
  readonly value: object;
  next: Entry | undefined;
}

/** Every property exists from the start: an assignment then runs no setter of a polluted prototype. */
export interface Writer {
  readonly root: string;
  readonly limits: EncodeLimits;
  readonly functionTable: FunctionTable | undefined;
  /** True if values that cannot cross become a text instead of being refused. */
  readonly lenient: boolean;
  readonly maxText: number;
  readonly numbers: Map<unknown, unknown>;
  /** Path of the slot that is being written: its container, and how it is reached from there. */
  parent: Entry | undefined;
  via: Via;
  key: unknown;
  /** The text so far, without the last few kilobytes, which are in `tail`. */
  text: string;
  tail: string;
  kinds: string;
  /** Characters and bytes that may still be written. */
  room: number;
  bytes: Bytes;
  bytesUsed: number;
  elements: number;
  regexps: number;
  functions: number;
  met: number;
  written: number;
  /** The last entry of the list of encountered values; the first entry is a placeholder. */
  last: Entry;
  /** Lenient only: a limit was reached, and the rest is left out. */
  full: boolean;
}

/** Minimum length of a node that is not written yet: a comma, its kind and `{}`. */
export const NODE_ROOM = 4;
/** Room for what is written without a check: brackets, commas, the first and last characters, a TOO_LARGE or two. */
const END_ROOM = 64;
/** Maximum length of a slot, apart from strings and large bigints. */
const SLOT_ROOM = 32;
const TAIL_LENGTH = 4096;
const INT64 = 2n ** 63n;

export function createWriter(
  root: string,
  limits: EncodeLimits,
  functionTable: FunctionTable | undefined,
  lenient: boolean,
): Writer {
  const first: Entry = { parent: undefined, via: 'root', key: undefined, value: limits, next: undefined };
  return {
    root,
    limits,
    functionTable,
    lenient,
    maxText: lenient && hasOwn(limits, 'maxText') ? limits.maxText! : limits.maxBytes,
    numbers: new MapOf(),
    parent: undefined,
    via: 'root',
    key: undefined,
    text: '',
    tail: '[',
    kinds: 'V',
    room: limits.maxBytes - END_ROOM,
    bytes: new Uint8ArrayOf(0),
    bytesUsed: 0,
    elements: 1,
    regexps: 0,
    functions: 0,
    met: 0,
    written: 0,
    last: first,
    full: false,
  };
}

export function wireOf(writer: Writer): Wire {
  const { bytesUsed } = writer;
  const bytes = bytesUsed === 0 ? undefined : trimmed(writer.bytes, bytesUsed);
  const wire = { __proto__: null, text: `${writer.text}${writer.tail},"${writer.kinds}"]`, bytes };
  return wire as Wire;
}

/** Whether `length` more characters or bytes are within the limit. */
export const fits = (writer: Writer, length: number): boolean => length <= writer.room;

/** Appends to the text. */
export function appendText(writer: Writer, piece: string): void {
  writer.tail += piece;
  writer.room -= piece.length;
  if (writer.tail.length < TAIL_LENGTH) return;
  // A long piece is most of the tail, and already flat: copying it would cost more than keeping its few parts.
  writer.text += piece.length < TAIL_LENGTH ? flatten(writer.tail) : writer.tail;
  writer.tail = '';
}

/**
 * Returns the same text as one piece of memory. The engine keeps concatenated texts as a tree of parts (a rope) until a character
 * is read, and the parts take most of the memory. The comparison is never true: it keeps the compiler from removing the read.
 */
function flatten(rope: string): string {
  return rope[0] === '' ? '' : rope;
}

/** Writes the next node: its kind, and the beginning of its text. */
export function putNode(writer: Writer, kind: string, payload: string): void {
  writer.kinds += kind;
  writer.room -= 1;
  appendText(writer, `,${payload}`);
}

/** Handles a reached limit: throws, or for a lenient writer returns the slot that replaces the rest. */
export function overflow(writer: Writer, limit: string): string {
  writer.full = true;
  if (writer.lenient) return `"${TOO_LARGE}"`;
  const reached = writer.via === 'root' ? '' : ` (reached at ${placeOf(writer)})`;
  const what = `over the limit of ${limit} in one transfer${reached}`;
  throw new SerializationError(writer.root, what, undefined);
}

export const overByteLimit = (writer: Writer): string => overflow(writer, `${writer.limits.maxBytes} bytes`);

/** The path of the slot that is being written. */
export const placeOf = ({ root, parent, via, key }: Writer): string => pathOf(root, { parent, via, key });

export function appendBytes(writer: Writer, from: Bytes): void {
  const { bytesUsed, limits } = writer;
  const end = bytesUsed + lengthOf(from);
  writer.bytes = growTo(writer.bytes, bytesUsed, end, limits.maxBytes);
  copy(writer.bytes, bytesUsed, from);
  writer.bytesUsed = end;
  writer.room -= lengthOf(from);
}

/** Returns the slot of `value`, for the place that the writer is at. */
export function slotOf(writer: Writer, value: unknown): string {
  if (typeof value === 'string') return textSlot(writer, value);
  if (!fits(writer, SLOT_ROOM)) return overByteLimit(writer);
  switch (typeof value) {
    case 'number':
      if (value - value === 0) return value === 0 && 1 / value < 0 ? '["n","-0"]' : `${value}`;
      return `["n","${value}"]`;
    case 'boolean':
      return value ? 'true' : 'false';
    case 'undefined':
      return '["u"]';
    case 'bigint':
      return bigintSlot(writer, value);
    case 'symbol': {
      const { what, hint, text } = symbolRefusal(value);
      if (writer.lenient) return textSlot(writer, text);
      throw new SerializationError(placeOf(writer), what, hint);
    }
    default:
      return value === null ? 'null' : `[${numberOf(writer, value as object)}]`;
  }
}

export function textSlot(writer: Writer, whole: string): string {
  const text = writer.lenient ? shownText(writer, whole) : whole;
  // The length is checked first: nothing larger than the limit is ever copied.
  if (!fits(writer, text.length + 2)) return overByteLimit(writer);
  const slot = quote(text);
  return slot.length <= text.length + 2 || fits(writer, slot.length) ? slot : overByteLimit(writer);
}

function shownText({ maxText }: Writer, text: string): string {
  const more = text.length - maxText;
  return more > 0 ? `${cut(text, 0, maxText)}… (${more} characters cut)` : text;
}

function bigintSlot(writer: Writer, value: bigint): string {
  const magnitude = value < 0n ? -value : value;
  // Hexadecimal, with four bits per digit, because converting a large bigint to decimal takes seconds.
  const large = magnitude >= INT64 && magnitude >> BigIntOf(4 * writer.limits.maxBytes) !== 0n;
  if (large) return overByteLimit(writer);
  const slot = `["b","${bigintText(value, 16)}"]`;
  return fits(writer, slot.length) ? slot : overByteLimit(writer);
}

function numberOf(writer: Writer, value: object): number {
  const known = mapGet(writer.numbers, value) as number | undefined;
  if (known !== undefined) return known;
  const { parent, via, key } = writer;
  const entry: Entry = { parent, via, key, value, next: undefined };
  writer.last.next = entry;
  writer.last = entry;
  writer.met += 1;
  writer.room -= NODE_ROOM;
  mapSet(writer.numbers, value, writer.met);
  return writer.met;
}

/** Counts the cost of a node before anything is allocated for it. False if a text replaces the node, which is over the limit. */
export function countElements(writer: Writer, elements: number): boolean {
  writer.elements += elements;
  const { maxElements } = writer.limits;
  if (writer.elements <= maxElements) return true;
  putNode(writer, 'T', overflow(writer, `${maxElements} elements`));
  return false;
}

/** Refuses the value at the writer's place: throws, or for a lenient writer writes a text instead. */
export function refuseValue(writer: Writer, { what, hint, text }: Refusal): void {
  if (!writer.lenient) throw new SerializationError(placeOf(writer), what, hint);
  putNode(writer, 'T', textSlot(writer, text));
}

/** Returns a string as JSON. Most are short and plain, and checking each character is faster than calling the engine. */
export function quote(text: string): string {
  if (text.length > 32) return stringify(text);
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char < ' ' || char > '~' || char === '"' || char === '\\') return stringify(text);
  }
  return `"${text}"`;
}
