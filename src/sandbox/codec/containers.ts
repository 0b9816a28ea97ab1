/**
 * Writes objects, arrays, Maps and Sets as nodes. The values that they contain are queued in order and written later.
 */
import { isInteger, keysOf, mapEach, mapSize, setEach, setSize } from './intrinsics.ts';
import { pathOf, SerializationError, threwText } from './serialization-error.ts';
import { HEAVY_COST } from './wire.ts';
import {
  appendText,
  countElements,
  type Entry,
  putNode,
  refuseValue,
  slotOf,
  textSlot,
  type Writer,
} from './writer.ts';

/** Maximum length of an array: its largest index plus one. */
const MAX_LENGTH = 2 ** 32 - 1;

export function writeObject(writer: Writer, entry: Entry): void {
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

export function writeArray(writer: Writer, entry: Entry): void {
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

export function writeMap(writer: Writer, entry: Entry): void {
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

export function writeSet(writer: Writer, entry: Entry): void {
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
