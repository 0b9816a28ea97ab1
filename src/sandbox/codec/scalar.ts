/** Decodes scalars: values without parts, each read from its node alone. */
import { binaryOf, lengthOf } from './binary.ts';
import {
  BigIntOf,
  cut,
  DateOf,
  define,
  descriptorOf,
  ErrorOf,
  hasOwn,
  RegExpOf,
  tableOf,
} from './intrinsics.ts';
import { count, countOf, listOf, type Reader, textOf, throwUnreadable } from './reader.ts';
import { REGEXP_COST, regexpCost } from './regexp-cost.ts';
import { HEAVY_COST, HEAVY_ERROR_COST, NAME_LENGTH, TOO_LARGE } from './wire.ts';

export const NUMBERS = tableOf<number>({
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

export function bigintOf(text: string): bigint {
  const negative = cut(text, 0, 1) === '-';
  try {
    const magnitude = BigIntOf(`0x${negative ? cut(text, 1) : text}`);
    return negative ? -magnitude : magnitude;
  } catch {
    return throwUnreadable('a bigint without digits');
  }
}

export function scalarOf(reader: Reader, kind: string, node: unknown): unknown {
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
