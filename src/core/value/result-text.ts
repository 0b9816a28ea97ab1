/**
 * Writes whatever a tool returned as text for a model: a result is never a failure because of what it is. Plain JSON is written as
 * JSON.stringify writes it. Other values are written as the sandbox writes them (tagged-json.ts), with two exceptions: a bigint is
 * its digits, and bytes are their type and length.
 * - Nothing here throws. A part whose reading throws (a getter, a proxy, a `toJSON`) is marked in its place, and counted.
 * - The work is bounded: deep parts and parts beyond the bound are marked and counted too.
 */
import { kindOf } from './tagged-json.ts';
import { errorMessage, readField } from './thrown.ts';

export interface ResultText {
  readonly text: string;
  /** Why parts of the value are marked instead of written, one entry for each reason; empty if all is written. */
  readonly unwritten: readonly string[];
}

/** Levels of nesting; readers parse the text recursively. */
const MAX_DEPTH = 200;
/** Characters and parts that are written, some 100 MB of text: what is larger cannot be stored as a file either. */
const MAX_SIZE = 100 * 1024 * 1024;

const BYTES: readonly string[] = [
  'ArrayBuffer',
  'SharedArrayBuffer',
  'Uint8Array',
  'Uint8ClampedArray',
  'DataView',
];

export function toResultText(value: unknown): ResultText {
  if (typeof value === 'string') return { text: value, unwritten: [] };
  const copy = new ResultCopy();
  const text = JSON.stringify(copy.write(value, 0)) ?? `(a ${typeof value})`;
  return { text, unwritten: [...copy.unwritten] };
}

/** Copies a value part by part to what JSON can hold. */
class ResultCopy {
  readonly unwritten = new Set<string>();
  readonly #ancestors = new Set<object>();
  #left = MAX_SIZE;

  write(part: unknown, depth: number): unknown {
    this.#left -= typeof part === 'string' ? part.length : 1;
    if (this.#left < 0) return this.#mark(`it exceeds ${MAX_SIZE} characters`);
    if (typeof part === 'bigint') return String(part);
    if (typeof part === 'number' && !Number.isFinite(part)) return { $number: String(part) };
    if (typeof part !== 'object' || part === null) return part;
    if (this.#ancestors.has(part)) return { $ref: 'cycle' };
    if (depth >= MAX_DEPTH) return this.#mark(`it is nested deeper than ${MAX_DEPTH} levels`);
    this.#ancestors.add(part);
    try {
      return this.#writeObject(part, depth + 1);
    } catch (error) {
      return this.#mark(errorMessage(error));
    } finally {
      this.#ancestors.delete(part);
    }
  }

  #writeObject(object: object, depth: number): unknown {
    const kind = kindOf(object);
    const list = (values: Iterable<unknown>) => Array.from(values, (each) => this.write(each, depth));
    if (kind === 'Array') return list(object as unknown[]);
    if (kind === 'Map') return { $map: list(object as Map<unknown, unknown>) };
    if (kind === 'Set') return { $set: list(object as Set<unknown>) };
    if (kind === 'Date') return { $date: toIso(object as Date) };
    if (kind === 'RegExp') return { $regexp: String(object) };
    if (kind === 'Error')
      return { $error: { name: String(readField(object, 'name')), message: errorMessage(object) } };
    if (BYTES.includes(kind)) return { $bytes: { type: kind, length: (object as ArrayBuffer).byteLength } };
    if (ArrayBuffer.isView(object)) return { [`$${kind}`]: list(object as Float64Array) };
    const { toJSON } = object as { toJSON?: unknown };
    if (typeof toJSON === 'function') return this.write(toJSON.call(object, ''), depth);
    const record: Record<string, unknown> = Object.create(null);
    for (const key of Object.keys(object)) {
      this.#left -= key.length;
      record[key] = this.#writeMember(object, key, depth);
    }
    // A promise, a weak map, a generator: it has no parts that could be written.
    if (kind !== 'Object' && Object.keys(record).length === 0) return { [`$${kind}`]: null };
    return record;
  }

  /** One member that cannot be read must not take the others with it. */
  #writeMember(object: object, key: string, depth: number): unknown {
    try {
      return this.write((object as Record<string, unknown>)[key], depth);
    } catch (error) {
      return this.#mark(errorMessage(error));
    }
  }

  #mark(why: string): unknown {
    this.unwritten.add(why);
    return { $unwritten: why };
  }
}

function toIso(date: Date): string | null {
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
