/**
 * Parses and validates the messages of a child: every known field is checked, others are dropped, and a field that is
 * of the wrong type or too long throws. `conduct.ts` decides whether a message is allowed at the time.
 */
import type { CodeExecutionError } from '../../core/author/code-execution.ts';
import type { Wire } from '../codec/wire.ts';
import type { Frame } from '../frame.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { type Crossing, type FromChild, LOG_LEVELS, type Remark, type Settlement } from '../protocol.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Throws an error whose message completes the sentence "it said …". */
export function readFromChild({ head, wire }: Frame): FromChild {
  const fields = fieldsOf(head);
  switch (fields.kind) {
    case 'ready':
      return { kind: 'ready' };
    case 'crossing':
      return { kind: 'crossing', run: count(fields.run), crossing: readCrossing(fields.crossing, wire) };
    case 'remark':
      return { kind: 'remark', run: count(fields.run), remark: readRemark(fields.remark, wire) };
    case 'settled':
      return {
        kind: 'settled',
        run: count(fields.run),
        settlement: readSettlement(fields.settlement, wire),
        ...(fields.memoryUsedBytes === undefined ? {} : { memoryUsedBytes: count(fields.memoryUsedBytes) }),
      };
    case 'idle':
      return { kind: 'idle', run: count(fields.run), rssBytes: count(fields.rssBytes) };
    default:
      throw new Error('a message of no known kind');
  }
}

function readCrossing(given: unknown, wire: Wire | undefined): Crossing {
  const fields = fieldsOf(given);
  const id = count(fields.id);
  const value = wireOf(wire);
  if (fields.kind === 'call') return { kind: 'call', id, fn: count(fields.fn), wire: value };
  if (fields.kind === 'answer') return { kind: 'answer', id, ok: flag(fields.ok), wire: value };
  throw new Error('a crossing that is neither call nor answer');
}

function readRemark(given: unknown, wire: Wire | undefined): Remark {
  const fields = fieldsOf(given);
  const value = wireOf(wire);
  if (fields.kind === 'report') return { kind: 'report', wire: value };
  if (fields.kind !== 'log') throw new Error('a remark that is neither report nor log');
  const level = count(fields.level);
  if (level >= LOG_LEVELS.length) throw new Error('a log of no known level');
  return { kind: 'log', level, wire: value };
}

function readSettlement(given: unknown, wire: Wire | undefined): Settlement {
  const fields = fieldsOf(given);
  const { status } = fields;
  if (status === 'success') return { status, wire: wireOf(wire), held: flag(fields.held) };
  if (status === 'error' || status === 'link_error' || status === 'memory')
    return { status, error: readError(fields.error) };
  throw new Error('a settlement of no known status');
}

function readError(given: unknown): CodeExecutionError {
  const fields = fieldsOf(given);
  const { errorNameLength, errorMessageLength, errorStackLength } = SANDBOX_LIMITS;
  return {
    name: text(fields.name, errorNameLength),
    message: text(fields.message, errorMessageLength),
    ...(fields.stack === undefined ? {} : { stack: text(fields.stack, errorStackLength) }),
    ...(fields.line === undefined ? {} : { line: count(fields.line) }),
    ...(fields.column === undefined ? {} : { column: count(fields.column) }),
    ...(fields.filename === undefined ? {} : { filename: text(fields.filename, errorMessageLength) }),
    ...(fields.specifier === undefined ? {} : { specifier: text(fields.specifier, errorMessageLength) }),
  };
}

function fieldsOf(given: unknown): Fields {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new Error('something else in the place of fields');
  return given as Fields;
}

function wireOf(wire: Wire | undefined): Wire {
  if (!wire) throw new Error('no value where one belongs');
  return wire;
}

function count(given: unknown): number {
  if (!Number.isSafeInteger(given) || (given as number) < 0) throw new Error('a number that counts nothing');
  return given as number;
}

function flag(given: unknown): boolean {
  if (typeof given !== 'boolean') throw new Error('something else in the place of yes or no');
  return given;
}

/** Cut texts have one more character, the ellipsis. */
function text(given: unknown, longest: number): string {
  if (typeof given !== 'string') throw new Error('something else in the place of a text');
  if (given.length > longest + 1) throw new Error(`a text of ${given.length} characters`);
  return given;
}
