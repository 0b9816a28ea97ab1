/**
 * Strict JSON (runtime §14.1.4): what reads back is what was written. A value that JSON would change silently is refused, and the
 * refusal names the place: `value.orders[2].total`.
 * J1. One pass reads each property once: a getter or proxy cannot give the check one value and the writer another.
 * J2. Bounded: a shared part is written at each reference, which can grow exponentially, so visits are counted.
 * As in JSON, -0 becomes 0 and a property that is undefined is left out; in a list undefined is refused.
 */
import { RuntimeError } from './error.ts';
import { LIMITS, utf8Length } from './limit.ts';

export interface JsonBound {
  /** The value's name in errors. */
  readonly name: string;
  readonly maxBytes: number;
}

/** Throws `InvalidValue` with the place, or `LimitExceeded` with the limit. */
export function toJsonText(value: unknown, { name, maxBytes }: JsonBound): string {
  let left = maxBytes;
  const above = new Set<object>();

  const spend = (bytes: number) => {
    left -= bytes;
    if (left < 0) throw tooLarge(name, maxBytes);
  };
  const copy = (part: unknown, place: Place): unknown => {
    spend(1);
    switch (typeof part) {
      case 'string':
        spend(part.length);
        return part;
      case 'boolean':
        return part;
      case 'number':
        if (Number.isFinite(part)) return part;
        throw refuse(name, place, String(part));
      case 'object':
        return part === null ? null : copyObject(part, place);
      default:
        throw refuse(name, place, WORDS[typeof part] ?? typeof part);
    }
  };
  const copyObject = (object: object, place: Place): unknown => {
    if (above.has(object)) throw refuse(name, place, 'a cycle');
    if (above.size >= LIMITS.jsonDepth) {
      throw new RuntimeError(
        'LimitExceeded',
        `${name} cannot be kept: it is nested deeper than ${LIMITS.jsonDepth} levels.`,
      );
    }
    above.add(object);
    const result = Array.isArray(object) ? copyList(object, place) : copyRecord(object, place);
    above.delete(object);
    return result;
  };
  const copyList = (list: readonly unknown[], place: Place): unknown[] =>
    // A loop, since map() skips holes.
    Array.from({ length: list.length }, (_, index) => copy(list[index], { above: place, key: index }));
  const copyRecord = (record: object, place: Place): unknown => {
    if (!isPlain(record)) throw refuse(name, place, `an instance of ${className(record)}`);
    const result = Object.create(null) as Record<string, unknown>;
    for (const key of Reflect.ownKeys(record)) {
      if (!Object.prototype.propertyIsEnumerable.call(record, key)) continue;
      const at = { above: place, key };
      if (typeof key === 'symbol') throw refuse(name, at, 'a symbol for a key');
      const member = (record as Record<string, unknown>)[key];
      spend(key.length);
      if (member !== undefined) result[key] = copy(member, at);
    }
    return result;
  };

  const text = JSON.stringify(copy(value, { key: '' }));
  if (utf8Length(text) > maxBytes) throw tooLarge(name, maxBytes);
  return text;
}

/** The place of a part, as a linked list: it costs nothing until an error names it. */
interface Place {
  readonly above?: Place;
  readonly key: string | number | symbol;
}

const WORDS: Readonly<Record<string, string>> = {
  undefined: 'undefined',
  function: 'a function',
  symbol: 'a symbol',
  bigint: 'a bigint',
};

function refuse(name: string, place: Place, what: string): RuntimeError {
  return new RuntimeError(
    'InvalidValue',
    `${showPlace(name, place)} is ${what}: only JSON values can be kept (objects, lists, texts, finite numbers, true, false, null).`,
  );
}

function tooLarge(name: string, maxBytes: number): RuntimeError {
  return new RuntimeError('LimitExceeded', `${name} cannot be kept: its JSON is above ${maxBytes} bytes.`);
}

function showPlace(name: string, place: Place): string {
  const steps: string[] = [];
  for (let at: Place = place; at.above; at = at.above) steps.push(showStep(at.key));
  // Errors must stay readable.
  const shown = steps.length > 20 ? [...steps.slice(0, 5), '…', ...steps.slice(-15)] : steps;
  return name + shown.reverse().join('');
}

function showStep(key: string | number | symbol): string {
  if (typeof key === 'symbol') return `[${String(key)}]`;
  if (typeof key === 'number') return `[${key}]`;
  const short = key.length > 60 ? `${key.slice(0, 60)}…` : key;
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(short) ? `.${short}` : `[${JSON.stringify(short)}]`;
}

/** A plain object of any realm: its prototype is null, or an object without a prototype that has the root's own methods. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return (
    prototype === null ||
    (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf'))
  );
}

function className(value: object): string {
  const name = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === 'string' && name.length > 0 ? name : 'a class';
}
