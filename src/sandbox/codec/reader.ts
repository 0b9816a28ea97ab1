/** The reading side of a transfer: its state and cost limits, and the rejection of what `encode` never writes. */
import { type Bytes, lengthOf } from './binary.ts';
import {
  ErrorOf,
  hasOwn,
  isArray,
  isSafeInteger,
  parse,
  typedArrayKind,
  Uint8ArrayOf,
} from './intrinsics.ts';
import type { FunctionTable, Wire } from './wire.ts';
import type { EncodeLimits } from './writer.ts';

export type List = readonly unknown[];

export interface Reader {
  readonly functionTable: FunctionTable | undefined;
  readonly limits: EncodeLimits;
  /** The parsed table. A node that is not itself the value is replaced by the value, or by a `Filling`. */
  readonly table: unknown[];
  readonly kinds: string;
  readonly bytes: Bytes;
  bytesUsed: number;
  elements: number;
  met: number;
  /** Steps through chains of colliding keys so far. */
  steps: number;
  regexps: number;
  parts: number;
  /** Reading of the clock at the start, in milliseconds; `NO_CLOCK` if there is no clock. */
  readonly begun: number;
}

const NO_CLOCK = -1;

export function openReader(
  wire: Wire,
  functionTable: FunctionTable | undefined,
  limits: EncodeLimits,
): Reader {
  const { text } = wire;
  const sent = hasOwn(wire, 'bytes') ? wire.bytes : undefined;
  if (typeof text !== 'string') throwUnreadable('no text in it');
  if (sent !== undefined && typedArrayKind(sent) !== 'Uint8Array')
    throwUnreadable('bytes that are not a Uint8Array');
  const bytes = sent ?? new Uint8ArrayOf(0);
  if (text.length + lengthOf(bytes) > limits.maxBytes) throwUnreadable(`more than ${limits.maxBytes} bytes`);
  const table = parsed(text);
  if (!isArray(table) || table.length < 2) return throwUnreadable('not a table');
  const kinds: unknown = table[table.length - 1];
  if (typeof kinds !== 'string' || kinds.length !== table.length - 1 || kinds[0] !== 'V')
    return throwUnreadable('no valid list of kinds');
  return {
    functionTable,
    limits,
    table,
    kinds,
    bytes,
    bytesUsed: 0,
    elements: 1,
    met: 0,
    steps: 0,
    regexps: 0,
    parts: 0,
    begun: hasOwn(limits, 'work') ? limits.work!.spentMs() : NO_CLOCK,
  };
}

function parsed(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return throwUnreadable('invalid JSON');
  }
}

export function throwUnreadable(what: string): never {
  throw new ErrorOf(`The sandbox sent a value that cannot be read: ${what}.`);
}

/** Counts `elements` before anything is allocated for them. Throws if the limit is exceeded. */
export function count(reader: Reader, elements: number): void {
  reader.elements += elements;
  const { maxElements } = reader.limits;
  if (reader.elements > maxElements) throwUnreadable(`more than ${maxElements} elements`);
}

/** The clock is read once per this many parts: reading it each time would cost more than most parts do. */
const PARTS_PER_CLOCK_READ = 256;

/** The limit behind all counters: throws if a transfer takes too long to read, whatever the reason. */
export function checkTime(reader: Reader): void {
  reader.parts += 1;
  if (reader.begun === NO_CLOCK || reader.parts % PARTS_PER_CLOCK_READ !== 0) return;
  const { spentMs, freeMs, msPerElement } = reader.limits.work!;
  const most = freeMs + msPerElement * reader.elements;
  if (spentMs() - reader.begun > most)
    throwUnreadable(`reading it took more than ${most} ms, too long for its size`);
}

/** Steps allowed per element: a table without chosen keys takes one or two per key. */
const STEPS_PER_ELEMENT = 8;
const FREE_STEPS = 65_536;

/** Counts the steps past colliding keys before the engine takes them. Throws if they are too many. */
export function countSteps(reader: Reader, steps: number): void {
  reader.steps += steps;
  if (reader.steps > FREE_STEPS + STEPS_PER_ELEMENT * reader.elements)
    throwUnreadable('a Map or Set with too many colliding keys');
}

/** Reads a length, an index or an id: a non-negative integer. */
export function countOf(part: unknown): number {
  return isSafeInteger(part) && (part as number) >= 0
    ? (part as number)
    : throwUnreadable('expected a non-negative integer');
}

export function textOf(part: unknown): string {
  return typeof part === 'string' ? part : throwUnreadable('expected a string');
}

export function listOf(part: unknown): List {
  return isArray(part) ? part : throwUnreadable('expected a list');
}
