/**
 * Encodes values into the format of `wire.ts`. The same code runs on the host and inside the isolate, where the user
 * may have changed the builtins. User code runs only through getters and Proxy traps of the value; what it throws
 * propagates.
 */

import { extentOf, lengthOf } from './binary.ts';
import { brandOf } from './brand.ts';
import {
  dateTime,
  isInteger,
  keysOf,
  mapEach,
  mapSize,
  regexpFlags,
  regexpSource,
  setEach,
  setSize,
} from './intrinsics.ts';
import { REGEXP_COST, regexpCost } from './regexp-cost.ts';
import {
  functionName,
  functionRefusal,
  pathOf,
  refusalOf,
  SerializationError,
  threwText,
} from './serialization-error.ts';
import { type FunctionTable, HEAVY_COST, HEAVY_ERROR_COST, type Wire } from './wire.ts';
import {
  appendBytes,
  appendText,
  countElements,
  createWriter,
  type EncodeLimits,
  type Entry,
  fits,
  NODE_ROOM,
  overByteLimit,
  overflow,
  putNode,
  refuseValue,
  slotOf,
  textSlot,
  type Writer,
  wireOf,
} from './writer.ts';

export type { EncodeLimits } from './writer.ts';

export interface Encoded {
  readonly wire: Wire;
  /** Number of functions in the value, of either side. */
  readonly functions: number;
}

/** Throws a SerializationError that names the path of the value that cannot cross; the path starts with `root`. */
export function encode(
  value: unknown,
  functionTable: FunctionTable | undefined,
  limits: EncodeLimits,
  root: string = 'value',
): Encoded {
  const writer = createWriter(root, limits, functionTable, false);
  writeAll(writer, value);
  return { wire: wireOf(writer), functions: writer.functions };
}

/** For values that are only displayed: a text replaces each part that cannot cross or is over the limits. */
export function encodeLenient(value: unknown, limits: EncodeLimits, root: string = 'value'): Wire {
  const writer = createWriter(root, limits, undefined, true);
  writeAll(writer, value);
  return wireOf(writer);
}

/** Maximum length of a scalar, apart from texts and bytes. */
const SCALAR_ROOM = 64;

function writeAll(writer: Writer, value: unknown): void {
  const before = writer.last;
  appendText(writer, slotOf(writer, value));
  let depth = 1;
  let endOfDepth = writer.met;
  for (let entry = before.next; entry !== undefined; entry = entry.next) {
    if (writer.written === endOfDepth) {
      depth += 1;
      endOfDepth = writer.met;
    }
    writer.written += 1;
    writer.room += NODE_ROOM;
    writer.parent = entry.parent;
    writer.via = entry.via;
    writer.key = entry.key;
    writeNode(writer, entry, depth);
  }
}

function writeNode(writer: Writer, entry: Entry, depth: number): void {
  const { maxDepth } = writer.limits;
  if (writer.full) {
    putNode(writer, 'T', '0');
  } else if (depth > maxDepth) {
    refuseValue(writer, {
      what: `nested deeper than ${maxDepth} levels`,
      hint: undefined,
      text: '[Too deep]',
    });
  } else if (!writer.lenient) {
    writeValue(writer, entry);
  } else {
    try {
      writeValue(writer, entry);
    } catch (thrown) {
      // Thrown by a Proxy trap or an error's getter, both of which run before any part of the value is written.
      putNode(writer, 'T', textSlot(writer, threwText(thrown)));
    }
  }
}

function writeValue(writer: Writer, entry: Entry): void {
  const { value } = entry;
  const brand = brandOf(value);
  if (brand === 'object') writeObject(writer, entry);
  else if (brand === 'array') writeArray(writer, entry);
  else if (brand === 'function') writeFunction(writer, value);
  else if (brand === 'map') writeMap(writer, entry);
  else if (brand === 'set') writeSet(writer, entry);
  else if (brand === 'binary') writeBinary(writer, value);
  else if (brand === 'date') writeDate(writer, value);
  else if (brand === 'regexp') writeRegExp(writer, value);
  else if (brand === 'error') writeError(writer, value);
  else refuseValue(writer, refusalOf(value));
}

function writeDate(writer: Writer, value: object): void {
  const time = dateTime(value);
  if (fits(writer, SCALAR_ROOM)) putNode(writer, 'D', isInteger(time) ? `${time}` : 'null');
  else putNode(writer, 'T', overByteLimit(writer));
}

function writeError(writer: Writer, value: object): void {
  const { name, message } = value as { name?: unknown; message?: unknown };
  const text = typeof message === 'string' ? message : '';
  writeTexts(writer, 'E', typeof name === 'string' ? name : 'Error', text);
}

function writeRegExp(writer: Writer, value: object): void {
  const source = regexpSource(value);
  const flags = regexpFlags(value);
  writer.regexps += regexpCost(source, flags);
  if (writer.regexps <= REGEXP_COST) writeTexts(writer, 'R', source, flags);
  else putNode(writer, 'T', overflow(writer, 'regular expressions'));
}

function writeBinary(writer: Writer, value: object): void {
  if (!countElements(writer, HEAVY_COST)) return;
  const extent = extentOf(value);
  if (extent.kind === undefined) {
    refuseValue(writer, { what: extent.fault, hint: undefined, text: `[${extent.fault}]` });
    return;
  }
  const length = lengthOf(extent.bytes);
  if (!fits(writer, length + SCALAR_ROOM)) {
    putNode(writer, 'T', overByteLimit(writer));
    return;
  }
  appendBytes(writer, extent.bytes);
  putNode(writer, 'B', `["${extent.kind}",${length}]`);
}

function writeFunction(writer: Writer, value: object): void {
  const { functionTable } = writer;
  if (functionTable === undefined) {
    refuseValue(writer, functionRefusal(value));
    return;
  }
  if (!countElements(writer, HEAVY_COST)) return;
  const fn = value as (...args: never[]) => unknown;
  const home = functionTable.homeId(fn);
  writer.functions += 1;
  // The name is written first: if it is over the limit, the function is not registered.
  const name = home === undefined ? textSlot(writer, functionName(fn)) : '';
  if (!fits(writer, name.length + SCALAR_ROOM)) overByteLimit(writer);
  if (home === undefined) putNode(writer, 'F', `[${functionTable.give(fn)},${name}]`);
  else putNode(writer, 'f', `${home}`);
}

function writeTexts(writer: Writer, kind: string, first: string, second: string): void {
  if (!countElements(writer, kind === 'E' ? HEAVY_ERROR_COST : HEAVY_COST)) return;
  const one = textSlot(writer, first);
  const two = writer.full ? '' : textSlot(writer, second);
  if (writer.full || !fits(writer, one.length + two.length)) putNode(writer, 'T', overByteLimit(writer));
  else putNode(writer, kind, `[${one},${two}]`);
}

/**
 * Writes objects, arrays, Maps and Sets as nodes. The values that they contain are queued in order and written later.
 * Maximum length of an array: its largest index plus one.
 */
const MAX_LENGTH = 2 ** 32 - 1;

function writeObject(writer: Writer, entry: Entry): void {
  const keys = keysOf(entry.value);
  if (!begin(writer, entry, keys.length)) return;
  writer.via = 'property';
  putNode(writer, 'O', '{');
  for (let i = 0; i < keys.length && !writer.full; i++) {
    const value = read(writer, entry, keys[i]!);
    if (!writeKey(writer, keys[i]!, i === 0 ? '' : ',', ':')) break;
    appendText(writer, slotOf(writer, value));
  }
  appendText(writer, '}');
}

function writeArray(writer: Writer, entry: Entry): void {
  const array = entry.value as unknown[];
  const { length } = array;
  // A Proxy can report any length.
  if (!isInteger(length) || length < 0) {
    refuseValue(writer, { what: 'an array without a length', hint: undefined, text: '[Array]' });
    return;
  }
  if (!begin(writer, entry, length)) return;
  const keys = keysOf(array);
  // Indices come first, in ascending order: if the last of them is in its place, none is missing.
  if (keys.length !== length || (length > 0 && keys[length - 1] !== `${length - 1}`)) {
    writeSparseArray(writer, entry, length, keys);
    return;
  }
  writer.via = 'item';
  putNode(writer, 'A', '[');
  for (let i = 0; i < length && !writer.full; i++) {
    writer.key = i;
    const slot = slotOf(writer, writer.lenient ? read(writer, entry, i) : array[i]);
    appendText(writer, i === 0 ? slot : `,${slot}`);
  }
  appendText(writer, ']');
}

function writeSparseArray(writer: Writer, entry: Entry, length: number, keys: readonly string[]): void {
  if (!begin(writer, entry, keys.length)) return;
  putNode(writer, 'a', `[${length}`);
  for (let i = 0; i < keys.length && !writer.full; i++) {
    const key = keys[i]!;
    const index = indexOf(key);
    // Only a Proxy has an item beyond its length.
    if (index >= length) continue;
    writer.via = index < 0 ? 'property' : 'item';
    const value = read(writer, entry, index < 0 ? key : index);
    if (index >= 0) appendText(writer, `,${index},`);
    else if (!writeKey(writer, key, ',', ',')) break;
    appendText(writer, slotOf(writer, value));
  }
  appendText(writer, ']');
}

function writeMap(writer: Writer, entry: Entry): void {
  if (!begin(writer, entry, HEAVY_COST + 2 * mapSize(entry.value))) return;
  let index = 0;
  putNode(writer, 'M', '[');
  mapEach(entry.value, (value, key) => {
    if (writer.full) return;
    writer.via = 'keys';
    writer.key = index;
    const keySlot = slotOf(writer, key);
    appendText(writer, index === 0 ? keySlot : `,${keySlot}`);
    writer.via = typeof key === 'string' || typeof key === 'number' ? 'get' : 'values';
    writer.key = writer.via === 'get' ? key : index;
    appendText(writer, `,${slotOf(writer, value)}`);
    index += 1;
  });
  appendText(writer, ']');
}

function writeSet(writer: Writer, entry: Entry): void {
  if (!begin(writer, entry, HEAVY_COST + setSize(entry.value))) return;
  let index = 0;
  writer.via = 'values';
  putNode(writer, 'S', '[');
  setEach(entry.value, (item) => {
    if (writer.full) return;
    writer.key = index;
    const slot = slotOf(writer, item);
    appendText(writer, index === 0 ? slot : `,${slot}`);
    index += 1;
  });
  appendText(writer, ']');
}

/** Called before a container is written: counts its content, and makes it the parent in paths. False if over limit. */
function begin(writer: Writer, entry: Entry, count: number): boolean {
  if (!countElements(writer, count)) return false;
  writer.parent = entry;
  return true;
}

/** Reads the property once; its getter, if any, runs once. */
function read(writer: Writer, entry: Entry, key: string | number): unknown {
  const from = entry.value as Record<string | number, unknown>;
  writer.key = key;
  if (writer.lenient) {
    try {
      return from[key];
    } catch (thrown) {
      return threwText(thrown);
    }
  }
  const value = from[key];
  if (key === 'then' && typeof value === 'function') {
    // An `await` of such an object on the other side would call `then` here and pass it functions of that side.
    const hint = 'Await it first, or leave `then` out.';
    throw new SerializationError(pathOf(writer.root, entry), 'an object with a `then` method', hint);
  }
  return value;
}

function writeKey(writer: Writer, key: string, before: string, after: string): boolean {
  const slot = textSlot(writer, key);
  if (writer.full) return false;
  appendText(writer, before + slot + after);
  return true;
}

/** Returns the array index that `key` denotes, or -1. */
function indexOf(key: string): number {
  const index = +key;
  return isInteger(index) && index >= 0 && index < MAX_LENGTH && `${index}` === key ? index : -1;
}
