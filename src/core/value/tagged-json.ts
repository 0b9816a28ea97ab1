/**
 * Values of the sandbox as JSON text, for `code run --json`. JSON's own values are written as they are; the others
 * are objects with one key that begins with `$`:
 *   {"$bigint":"9"}  {"$date":"2026-01-01T00:00:00.000Z"}  {"$map":[[key,value]]}  {"$set":[value]}
 *   {"$bytes":"base64"} (ArrayBuffer, Uint8Array, DataView)  {"$Float64Array":[1,2]} (other typed arrays)
 *   {"$number":"NaN"}  {"$regexp":"/a/g"}  {"$error":{"name":…,"message":…}}
 *   {"$function":"name"}  {"$symbol":"name"}  {"$ref":"cycle"}: stands for a value that cannot be written
 * `undefined` is absent, and null in lists. An object of the program that would read as a tag becomes {"$object":{…}}.
 * - The output is bounded: visited and written parts are counted, and the writer gives up at the limit. A shared
 *   value is written at each reference, which can grow exponentially.
 * - The writer is iterative, so deep values do not exhaust the stack.
 */
import { toBase64 } from './base64.ts';
import { utf8Length } from './limit.ts';

export type TaggedJson = { readonly ok: true; readonly text: string } | { readonly ok: false };

/** `ok: false` when the text would be longer than `maxBytes` of UTF-8. */
export function toTaggedJson(value: unknown, { maxBytes }: { readonly maxBytes: number }): TaggedJson {
  const writer = new TaggedWriter(maxBytes);
  writer.enter(value);
  while (writer.step());
  return writer.finish();
}

class TaggedWriter {
  readonly #parts: string[] = [];
  readonly #open: Frame[] = [];
  readonly #ancestors = new Set<object>();
  #bytesLeft: number;
  #visitsLeft: number;

  constructor(maxBytes: number) {
    this.#bytesLeft = maxBytes;
    this.#visitsLeft = maxBytes;
  }

  /** Writes a value without members, or opens one whose members `step` writes. */
  enter(next: unknown): void {
    if (leastLength(next) > this.#bytesLeft) {
      this.#bytesLeft = -1;
      return;
    }
    const object = next as object;
    const leaf = this.#ancestors.has(object) ? '{"$ref":"cycle"}' : toLeaf(next);
    if (leaf !== undefined) {
      this.#write(leaf);
      return;
    }
    const node = toNode(object);
    this.#visitsLeft -= node.size;
    if (this.#visitsLeft < 0) return;
    this.#write(node.open);
    this.#ancestors.add(object);
    this.#open.push({ object, members: node.members(), close: node.close, first: true });
  }

  /** Writes the next member of the innermost object, or closes it. False when nothing is left to write. */
  step(): boolean {
    const frame = this.#open.at(-1);
    if (!frame || !this.#withinBounds()) return false;
    const { done, value: member } = frame.members.next();
    if (done) {
      this.#write(frame.close);
      this.#ancestors.delete(frame.object);
      this.#open.pop();
      return true;
    }
    const key = member.key === undefined ? '' : `${JSON.stringify(member.key)}:`;
    this.#write(`${frame.first ? '' : ','}${key}`);
    frame.first = false;
    this.enter(member.value);
    return true;
  }

  finish(): TaggedJson {
    return this.#withinBounds() ? { ok: true, text: this.#parts.join('') } : { ok: false };
  }

  #withinBounds(): boolean {
    return this.#bytesLeft >= 0 && this.#visitsLeft >= 0;
  }

  #write(text: string): void {
    // The length in characters is a lower bound, and is checked first.
    this.#bytesLeft -= text.length > this.#bytesLeft ? text.length : utf8Length(text);
    if (this.#bytesLeft >= 0) this.#parts.push(text);
  }
}

interface Member {
  readonly key?: string;
  readonly value: unknown;
}

/** An object that is being written. */
interface Frame {
  readonly object: object;
  readonly members: Iterator<Member, undefined>;
  readonly close: string;
  first: boolean;
}

interface Node {
  readonly open: string;
  readonly close: string;
  /** The cost of visiting it, absent members included. */
  readonly size: number;
  members(): Iterator<Member, undefined>;
}

/** A lower bound of the written length: a value that is certainly too long is refused before it is encoded. */
function leastLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' && value !== null ? (toBytes(value)?.length ?? 0) : 0;
}

/** The JSON of a value without members, else undefined. */
function toLeaf(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      if (Number.isFinite(value)) return Object.is(value, -0) ? '-0' : String(value);
      return tag('number', String(value));
    case 'boolean':
      return String(value);
    case 'bigint':
      return tag('bigint', String(value));
    case 'undefined':
      return 'null';
    case 'function':
      return tag('function', nameOf(value));
    case 'symbol':
      return tag('symbol', value.description ?? '');
    default:
      return value === null ? 'null' : toObjectLeaf(value as object);
  }
}

function toObjectLeaf(value: object): string | undefined {
  const bytes = toBytes(value);
  if (bytes) return tag('bytes', toBase64(bytes));
  switch (kindOf(value)) {
    case 'Date': {
      const time = (value as Date).getTime();
      return Number.isNaN(time) ? '{"$date":null}' : tag('date', (value as Date).toISOString());
    }
    case 'RegExp':
      return tag('regexp', String(value));
    default:
      return undefined;
  }
}

function toNode(value: object): Node {
  const kind = kindOf(value);
  switch (kind) {
    case 'Array':
      return list('[', value as unknown[], (value as unknown[]).length, ']');
    case 'Map': {
      const map = value as Map<unknown, unknown>;
      return list('{"$map":[', map.entries(), map.size, ']}');
    }
    case 'Set': {
      const set = value as Set<unknown>;
      return list('{"$set":[', set.values(), set.size, ']}');
    }
    case 'Error': {
      const { name, message } = value as Error;
      return fields('{"$error":{', Object.entries({ name, message }), '}}');
    }
  }
  if (ArrayBuffer.isView(value)) {
    const typed = value as ArrayBufferView & ArrayLike<unknown>;
    return list(`{"$${kind}":[`, Array.from(typed), typed.length, ']}');
  }
  const entries = Object.entries(value);
  const present = entries.filter(([, member]) => member !== undefined);
  const readsAsTag = present.length === 1 && present[0]?.[0].startsWith('$');
  const node = readsAsTag ? fields('{"$object":{', present, '}}') : fields('{', present, '}');
  return { ...node, size: entries.length };
}

function list(open: string, values: Iterable<unknown>, size: number, close: string): Node {
  return {
    open,
    close,
    size,
    *members() {
      for (const value of values) yield { value };
      return undefined;
    },
  };
}

function fields(open: string, entries: readonly [string, unknown][], close: string): Node {
  return {
    open,
    close,
    size: entries.length,
    *members() {
      for (const [key, value] of entries) yield { key, value };
      return undefined;
    },
  };
}

/** Returns the engine's own class name, since realms differ; a name that the object sets itself is ignored. */
export function kindOf(value: object): string {
  if (Array.isArray(value)) return 'Array';
  return Object.hasOwn(value, Symbol.toStringTag)
    ? 'Object'
    : Object.prototype.toString.call(value).slice(8, -1);
}

/** The bytes of a value that is a range of bytes rather than a list of numbers. */
function toBytes(value: object): Uint8Array | undefined {
  const kind = kindOf(value);
  if (kind === 'ArrayBuffer') return new Uint8Array(value as ArrayBuffer);
  if (kind !== 'Uint8Array' && kind !== 'DataView') return undefined;
  const { buffer, byteOffset, byteLength } = value as DataView;
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function nameOf(value: unknown): string {
  const { name } = value as { name?: unknown };
  return typeof name === 'string' ? name : '';
}

function tag(name: string, text: string): string {
  return `{"$${name}":${JSON.stringify(text)}}`;
}
