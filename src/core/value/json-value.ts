/**
 * Strict JSON (runtime §14.1.4): what reads back is what was written. A value that JSON would change silently is refused, and the
 * refusal names the place: `value.orders[2].total`.
 * - One pass reads each property once: a getter or proxy cannot give the check one value and the writer another.
 * - Visits are counted and bounded: a shared part is written at each reference, which can grow exponentially.
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
export function toJsonText(value: unknown, bound: JsonBound): string {
  const text = JSON.stringify(new StrictCopy(bound).copy(value, { key: '' }));
  if (utf8Length(text) > bound.maxBytes) throw tooLarge(bound);
  return text;
}

/**
 * Returns a copy of the object, as it reads back. Also throws `InvalidValue` if the value is not an object. Called
 * before a commit, since by then the code that passed the value has ended and can no longer receive the error.
 */
export function toJsonObject(value: unknown, bound: JsonBound): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RuntimeError('InvalidValue', `${bound.name} must be an object.`);
  return JSON.parse(toJsonText(value, bound)) as Record<string, unknown>;
}

/** Copies a value part by part, within a budget. */
class StrictCopy {
  readonly #bound: JsonBound;
  readonly #ancestors = new Set<object>();
  #bytesLeft: number;

  constructor(bound: JsonBound) {
    this.#bound = bound;
    this.#bytesLeft = bound.maxBytes;
  }

  copy(part: unknown, path: ValuePath): unknown {
    this.#spend(1);
    switch (typeof part) {
      case 'string':
        this.#spend(part.length);
        return part;
      case 'boolean':
        return part;
      case 'number':
        if (Number.isFinite(part)) return part;
        throw this.#notJson(path, String(part));
      case 'object':
        return part === null ? null : this.#copyObject(part, path);
      default:
        throw this.#notJson(path, TYPE_NAMES[typeof part] ?? typeof part);
    }
  }

  #copyObject(object: object, path: ValuePath): unknown {
    if (this.#ancestors.has(object)) throw this.#notJson(path, 'a cycle');
    if (this.#ancestors.size >= LIMITS.jsonDepth) {
      throw new RuntimeError(
        'LimitExceeded',
        `${this.#bound.name} cannot be stored: it is nested deeper than ${LIMITS.jsonDepth} levels.`,
      );
    }
    this.#ancestors.add(object);
    const result = Array.isArray(object) ? this.#copyList(object, path) : this.#copyRecord(object, path);
    this.#ancestors.delete(object);
    return result;
  }

  /** By index, since map() skips holes. */
  #copyList(list: readonly unknown[], path: ValuePath): unknown[] {
    return Array.from({ length: list.length }, (_, key) => this.copy(list[key], { above: path, key }));
  }

  #copyRecord(record: object, path: ValuePath): unknown {
    if (!isPlain(record)) throw this.#notJson(path, `an instance of ${className(record)}`);
    const result = Object.create(null) as Record<string, unknown>;
    for (const key of Reflect.ownKeys(record)) {
      if (!Object.prototype.propertyIsEnumerable.call(record, key)) continue;
      const at = { above: path, key };
      if (typeof key === 'symbol') throw this.#notJson(at, 'a symbol used as a key');
      const member = (record as Record<string, unknown>)[key];
      this.#spend(key.length);
      if (member !== undefined) result[key] = this.copy(member, at);
    }
    return result;
  }

  #spend(bytes: number): void {
    this.#bytesLeft -= bytes;
    if (this.#bytesLeft < 0) throw tooLarge(this.#bound);
  }

  #notJson(path: ValuePath, what: string): RuntimeError {
    return new RuntimeError(
      'InvalidValue',
      `${showPath(this.#bound.name, path)} is ${what}: only JSON values can be stored (objects, lists, strings, finite numbers, true, false, null).`,
    );
  }
}

/** The place of a part, as a linked list: it costs nothing until an error names it. */
interface ValuePath {
  readonly above?: ValuePath;
  readonly key: string | number | symbol;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  undefined: 'undefined',
  function: 'a function',
  symbol: 'a symbol',
  bigint: 'a bigint',
};

function tooLarge({ name, maxBytes }: JsonBound): RuntimeError {
  return new RuntimeError('LimitExceeded', `${name} cannot be stored: its JSON exceeds ${maxBytes} bytes.`);
}

function showPath(name: string, path: ValuePath): string {
  const steps: string[] = [];
  for (let at: ValuePath = path; at.above; at = at.above) steps.push(showStep(at.key));
  // Long paths are shortened: errors must stay readable.
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
