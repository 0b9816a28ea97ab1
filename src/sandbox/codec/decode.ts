/**
 * Decodes the format of `wire.ts` into new values on the reading side. The text may come from a process that the user's
 * code has taken over: input that `encode` would never write is rejected before anything is allocated for it.
 */
import { binaryOf, lengthOf } from './binary.ts';
import {
  BigIntOf,
  cut,
  DateOf,
  define,
  descriptorOf,
  ErrorOf,
  hasOwn,
  isArray,
  isSafeInteger,
  keysOf,
  MapOf,
  mapSet,
  RegExpOf,
  SetOf,
  setAdd,
  tableOf,
} from './intrinsics.ts';
import { addKey, createKeyTable, type KeyTable, SMALL_TABLE } from './key-table.ts';
import {
  checkTime,
  count,
  countOf,
  countSteps,
  type List,
  listOf,
  openReader,
  type Reader,
  textOf,
  throwUnreadable,
} from './reader.ts';
import { REGEXP_COST, regexpCost } from './regexp-cost.ts';
import {
  type FunctionTable,
  HEAVY_COST,
  HEAVY_ERROR_COST,
  NAME_LENGTH,
  TOO_LARGE,
  type Wire,
} from './wire.ts';
import type { EncodeLimits } from './writer.ts';

/** A container with the node that it is to be filled from, until the node is processed. */
interface UnfilledContainer {
  readonly value: object;
  readonly node: List;
}

/** Throws for any input that `encode` cannot have written within the same limits. */
export function decode(wire: Wire, functionTable: FunctionTable | undefined, limits: EncodeLimits): unknown {
  const reader = openReader(wire, functionTable, limits);
  const { table } = reader;
  const value = slotValue(reader, table[0]);
  let depth = 1;
  let endOfDepth = reader.met;
  for (let place = 1; place < table.length - 1; place++) {
    if (place > reader.met) throwUnreadable('a part that nothing refers to');
    if (place > endOfDepth) {
      depth += 1;
      endOfDepth = reader.met;
    }
    // The text that replaces a value that is too deep is itself at that depth.
    if (depth > limits.maxDepth && reader.kinds[place] !== 'T')
      throwUnreadable(`nested deeper than ${limits.maxDepth} levels`);
    checkTime(reader);
    fill(reader, place);
  }
  if (reader.bytesUsed !== lengthOf(reader.bytes)) throwUnreadable('unused bytes');
  return value;
}

function slotValue(reader: Reader, slot: unknown): unknown {
  if (typeof slot !== 'object' || slot === null) return slot;
  if (!isArray(slot) || slot.length < 1 || slot.length > 2) return throwUnreadable('a value of unknown form');
  const tag: unknown = slot[0];
  if (slot.length === 1) {
    if (typeof tag === 'number') return resolveReference(reader, tag);
    return tag === 'u' ? undefined : throwUnreadable('a value of unknown kind');
  }
  const text: unknown = slot[1];
  if (typeof text !== 'string') return throwUnreadable('a value of unknown form');
  if (tag === 'n') return text in NUMBERS ? NUMBERS[text] : throwUnreadable('a number of unknown kind');
  return tag === 'b' ? bigintOf(text) : throwUnreadable('a value of unknown kind');
}

/** New places must be referenced in ascending order: this makes the depth known, and every node reachable. */
function resolveReference(reader: Reader, place: number): unknown {
  const { table, kinds, met } = reader;
  if (!isSafeInteger(place) || place < 1 || place > met + 1 || place > table.length - 2) {
    return throwUnreadable('an invalid reference');
  }
  if (place > met) {
    reader.met = place;
    prepareNode(reader, place);
  }
  const value = table[place];
  const kind = kinds[place]!;
  return kind === 'M' || kind === 'S' || kind === 'a' ? (value as UnfilledContainer).value : value;
}

/** Handles a first reference: plain objects and dense arrays are reused, other containers created, scalars decoded. */
function prepareNode(reader: Reader, place: number): void {
  const { table, kinds } = reader;
  const node = table[place];
  switch (kinds[place]) {
    case 'O':
      if (typeof node !== 'object' || node === null || isArray(node)) throwUnreadable('an invalid object');
      break;
    case 'A':
      count(reader, listOf(node).length);
      break;
    case 'a': {
      const list = listOf(node);
      if (list.length % 2 !== 1) throwUnreadable('an invalid array');
      const length = countOf(list[0]);
      count(reader, length + (list.length - 1) / 2);
      table[place] = { value: sparseArray(length), node: list } satisfies UnfilledContainer;
      break;
    }
    case 'M':
      if (listOf(node).length % 2 !== 0) throwUnreadable('an invalid Map');
      count(reader, HEAVY_COST + listOf(node).length);
      table[place] = { value: new MapOf(), node: listOf(node) } satisfies UnfilledContainer;
      break;
    case 'S':
      count(reader, HEAVY_COST + listOf(node).length);
      table[place] = { value: new SetOf(), node: listOf(node) } satisfies UnfilledContainer;
      break;
    default:
      table[place] = scalarOf(reader, kinds[place]!, node);
  }
}

function fill(reader: Reader, place: number): void {
  const at = reader.table[place];
  const kind = reader.kinds[place];
  if (kind === 'O') fillObject(reader, at as Record<string, unknown>);
  else if (kind === 'A') fillArray(reader, at as unknown[]);
  else if (kind === 'a') fillSparseArray(reader, at as UnfilledContainer);
  else if (kind === 'M') fillMap(reader, at as UnfilledContainer);
  else if (kind === 'S') fillSet(reader, at as UnfilledContainer);
}

/** Assigns existing own properties only, so that no setter runs, neither a polluted one nor `__proto__`. */
function fillObject(reader: Reader, object: Record<string, unknown>): void {
  const keys = keysOf(object);
  count(reader, keys.length);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    const slot = object[key];
    if (typeof slot === 'object' && slot !== null) object[key] = checked(key, slotValue(reader, slot));
  }
}

function fillArray(reader: Reader, list: unknown[]): void {
  for (let i = 0; i < list.length; i++) {
    const slot = list[i];
    if (typeof slot === 'object' && slot !== null) list[i] = slotValue(reader, slot);
  }
}

function fillMap(reader: Reader, { value, node }: UnfilledContainer): void {
  const table = tableFor(node.length / 2);
  for (let i = 0; i < node.length; i += 2) {
    const key = keyOf(reader, table, node[i]);
    mapSet(value, key, slotValue(reader, node[i + 1]));
  }
}

function fillSet(reader: Reader, { value, node }: UnfilledContainer): void {
  const table = tableFor(node.length);
  for (let i = 0; i < node.length; i++) setAdd(value, keyOf(reader, table, node[i]));
}

const tableFor = (keys: number): KeyTable | undefined =>
  keys > SMALL_TABLE ? createKeyTable(keys) : undefined;

function keyOf(reader: Reader, table: KeyTable | undefined, slot: unknown): unknown {
  checkTime(reader);
  const key = slotValue(reader, slot);
  if (table !== undefined) countSteps(reader, addKey(table, key));
  return key;
}

function fillSparseArray(reader: Reader, { value, node }: UnfilledContainer): void {
  const length = node[0] as number;
  for (let i = 1; i < node.length; i += 2) {
    const key = node[i];
    if (typeof key === 'number' ? countOf(key) >= length : typeof key !== 'string' || key === 'length') {
      throwUnreadable('an item beyond the length of its array');
    }
    defineOwn(value, key as PropertyKey, checked(key, slotValue(reader, node[i + 1])));
  }
  // A text key that is an index after all has changed the length.
  if ((value as List).length !== length) throwUnreadable('an item beyond the length of its array');
}

/** Creates a sparse array: a dense one would take eight bytes per hole, although holes take none on the wire. */
function sparseArray(length: number): object {
  const array: unknown[] = [];
  if (length > 0) {
    defineOwn(array, length - 1, undefined);
    delete array[length - 1];
  }
  return array;
}

function defineOwn(owner: object, key: PropertyKey, value: unknown): void {
  define(owner, key, {
    __proto__: null,
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  } as object);
}

/** Rejects a `then` method, as the writer does: an `await` of its object here would call back to the other side. */
function checked(key: unknown, value: unknown): unknown {
  return key === 'then' && typeof value === 'function'
    ? throwUnreadable('an object with a `then` method')
    : value;
}

/** Decodes scalars: values without parts, each read from its node alone. */
const NUMBERS = tableOf<number>({
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
  '-0': -0,
});

const ERRORS = tableOf<ErrorConstructor | undefined>({
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
});

/** The latest date, in milliseconds before or after 1970. */
const LAST_DATE = 8.64e15;

function bigintOf(text: string): bigint {
  const negative = cut(text, 0, 1) === '-';
  try {
    const magnitude = BigIntOf(`0x${negative ? cut(text, 1) : text}`);
    return negative ? -magnitude : magnitude;
  } catch {
    return throwUnreadable('a bigint without digits');
  }
}

function scalarOf(reader: Reader, kind: string, node: unknown): unknown {
  if (kind === 'T') return node === 0 ? TOO_LARGE : textOf(node);
  if (kind === 'D') return dateOf(node);
  count(reader, kind === 'E' ? HEAVY_ERROR_COST : HEAVY_COST);
  if (kind === 'f') return resolveOwnFunction(reader, countOf(node));
  const pair = listOf(node);
  if (pair.length !== 2) return throwUnreadable('a part of unknown form');
  switch (kind) {
    case 'B':
      return nextBinary(reader, textOf(pair[0]), countOf(pair[1]));
    case 'R':
      return regexpOf(reader, textOf(pair[0]), textOf(pair[1]));
    case 'E':
      return errorOf(textOf(pair[0]), textOf(pair[1]));
    case 'F':
      return proxyOf(reader, countOf(pair[0]), textOf(pair[1]));
    default:
      return throwUnreadable('a part of unknown kind');
  }
}

function dateOf(node: unknown): Date {
  if (node === null) return new DateOf(Number.NaN);
  const known = typeof node === 'number' && node >= -LAST_DATE && node <= LAST_DATE;
  return known ? new DateOf(node) : throwUnreadable('a date out of range');
}

/** Ranges are consecutive, so all binary values together are never larger than the bytes that were sent. */
function nextBinary(reader: Reader, kind: string, length: number): object {
  const offset = reader.bytesUsed;
  if (offset + length > lengthOf(reader.bytes)) return throwUnreadable('fewer bytes than declared');
  reader.bytesUsed += length;
  return binaryOf(kind, reader.bytes, offset, length) ?? throwUnreadable('bytes of unknown kind');
}

function regexpOf(reader: Reader, source: string, flags: string): RegExp {
  reader.regexps += regexpCost(source, flags);
  if (reader.regexps > REGEXP_COST) throwUnreadable('regular expressions that are too expensive');
  try {
    return new RegExpOf(source, flags);
  } catch {
    return throwUnreadable('an invalid regular expression');
  }
}

/** Replaces the stack: the engine's would reveal frames of our code to the code that reads it. */
function errorOf(name: string, message: string): Error {
  const Known = ERRORS[name];
  const error = withoutTrace(() => new (Known ?? ErrorOf)(message));
  if (Known === undefined) defineHidden(error, 'name', name);
  defineHidden(error, 'stack', message === '' ? name : `${name}: ${message}`);
  return error;
}

/** Creates an error without a stack trace: the trace costs a kilobyte each, and errors come by the thousand. */
function withoutTrace(make: () => Error): Error {
  const limit = descriptorOf(ErrorOf, 'stackTraceLimit');
  if (limit === undefined || !hasOwn(limit, 'value') || !limit.configurable) return make();
  define(ErrorOf, 'stackTraceLimit', { __proto__: null, value: 0 } as object);
  try {
    return make();
  } finally {
    define(ErrorOf, 'stackTraceLimit', { __proto__: null, value: limit.value } as object);
  }
}

function defineHidden(error: Error, key: string, value: string): void {
  define(error, key, {
    __proto__: null,
    value,
    writable: true,
    configurable: true,
    enumerable: false,
  } as object);
}

function proxyOf({ functionTable }: Reader, id: number, name: string): unknown {
  if (functionTable === undefined || name.length > NAME_LENGTH)
    return throwUnreadable('a function where none is allowed');
  return functionTable.take(id, name);
}

function resolveOwnFunction({ functionTable }: Reader, id: number): unknown {
  const fn = functionTable === undefined ? undefined : functionTable.home(id);
  return typeof fn === 'function' ? fn : throwUnreadable('a function that was never passed');
}
