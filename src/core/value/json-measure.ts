/**
 * The size and depth of a value's JSON without writing it: `JSON.stringify` is recursive, and an untrusted value of some 4,500 levels
 * exhausts its stack. This is a loop that stops at the given bounds.
 * - `bytes` is exactly the UTF-8 length of `JSON.stringify(value)` if no bound was exceeded: workflows decide by it,
 *   and a replay must compute the same.
 * - Globals such as `Array` are looked up once: in the workflow's context a look-up costs as much as ten numbers.
 */
import { utf8Length } from './limit.ts';

const { isArray } = Array;
const { keys: keysOf } = Object;
const UNBOUNDED = Number.POSITIVE_INFINITY;

export interface JsonMeasure {
  readonly bytes: number;
  /** Depth of nesting of lists and objects, the outermost included. */
  readonly depth: number;
  /** False if a bound was exceeded: then both numbers are those reached so far. */
  readonly whole: boolean;
}

export interface JsonBounds {
  readonly maxDepth?: number;
  readonly maxBytes?: number;
}

interface Frame {
  readonly members: readonly unknown[] | Readonly<Record<string, unknown>>;
  /** Absent for a list. */
  readonly keys: readonly string[] | undefined;
  readonly length: number;
  at: number;
  /** Members written so far: each one but the first needs a comma. */
  written: number;
}

/** A value without JSON, such as `undefined`, has 0 bytes. */
export function measureJson(value: unknown, bounds: JsonBounds = {}): JsonMeasure {
  const { maxDepth = UNBOUNDED, maxBytes = UNBOUNDED } = bounds;
  const open: Frame[] = [];
  let depth = 0;
  const enter = (part: unknown): number => {
    if (typeof part !== 'object' || part === null) return leafBytes(part);
    open.push(toFrame(part));
    if (open.length > depth) depth = open.length;
    return 2;
  };
  let bytes = isWritten(value) ? enter(toJson(value, '')) : 0;
  while (open.length > 0) {
    if (depth > maxDepth || bytes > maxBytes) return { bytes, depth, whole: false };
    const frame = open[open.length - 1] as Frame;
    if (frame.at === frame.length) open.pop();
    else bytes += takeMember(frame, enter);
  }
  return { bytes, depth, whole: bytes <= maxBytes };
}

/** Returns the value's JSON for use in error texts; a placeholder if it exceeds 200 bytes or 4 levels. */
export function showJson(value: unknown): string {
  if (!measureJson(value, { maxDepth: 4, maxBytes: 200 }).whole) return 'a value too large to show';
  return JSON.stringify(value) ?? 'nothing';
}

/** Takes the next member of an open list or object; returns its bytes, with its key and a comma. */
function takeMember(frame: Frame, enter: (part: unknown) => number): number {
  const { members, keys } = frame;
  const index = frame.at++;
  const key = keys ? (keys[index] as string) : index;
  const member = toJson((members as Readonly<Record<string | number, unknown>>)[key], key);
  if (keys && !isWritten(member)) return 0;
  const comma = frame.written++ > 0 ? 1 : 0;
  if (!keys) return comma + (isWritten(member) ? enter(member) : 4);
  return comma + textBytes(key as string) + 1 + enter(member);
}

function toFrame(members: object): Frame {
  if (isArray(members)) return { members, keys: undefined, length: members.length, at: 0, written: 0 };
  const keys = keysOf(members);
  const record = members as Readonly<Record<string, unknown>>;
  return { members: record, keys, length: keys.length, at: 0, written: 0 };
}

/** Applies `toJSON` as JSON.stringify does: a date becomes its text. */
function toJson(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === 'function' ? toJSON.call(value, `${key}`) : value;
}

function isWritten(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}

function leafBytes(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return textBytes(value);
    case 'number':
      // If finite; -0 is written without its sign.
      return value - value === 0 ? `${value === 0 ? 0 : value}`.length : 4;
    case 'boolean':
      return value ? 4 : 5;
    case 'bigint':
      throw new TypeError('Do not know how to serialize a BigInt');
    default:
      return 4;
  }
}

/** Escapes: quotation mark, backslash, control characters and lone surrogates. */
const ESCAPED = /["\\\p{Cc}\p{Cs}]/u;
const SHORT_ESCAPES = new Set([0x22, 0x5c, 0x08, 0x09, 0x0a, 0x0c, 0x0d]);

function textBytes(text: string): number {
  let bytes = utf8Length(text) + 2;
  if (!ESCAPED.test(text)) return bytes;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (SHORT_ESCAPES.has(unit)) bytes += 1;
    else if (unit < 0x20) bytes += 5;
    else if (unit >= 0xd800 && unit < 0xe000) {
      const next = text.charCodeAt(i + 1);
      if (unit < 0xdc00 && next >= 0xdc00 && next < 0xe000) i += 1;
      // An escape of six characters, in place of the three bytes of the replacement character.
      else bytes += 3;
    }
  }
  return bytes;
}
