/**
 * Parses and validates the messages of a child: every known field is checked, others are dropped, and a field that is
 * of the wrong type or too long throws. `protocol-checker.ts` decides whether a message is allowed at the time.
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
      return { kind: 'crossing', run: readCount(fields.run), crossing: readCrossing(fields.crossing, wire) };
    case 'remark':
      return { kind: 'remark', run: readCount(fields.run), remark: readRemark(fields.remark, wire) };
    case 'settled':
      return {
        kind: 'settled',
        run: readCount(fields.run),
        settlement: readSettlement(fields.settlement, wire),
        ...(fields.memoryUsedBytes === undefined
          ? {}
          : { memoryUsedBytes: readCount(fields.memoryUsedBytes) }),
      };
    case 'idle':
      return { kind: 'idle', run: readCount(fields.run), rssBytes: readCount(fields.rssBytes) };
    default:
      throw new Error('a message of unknown kind');
  }
}

function readCrossing(given: unknown, wire: Wire | undefined): Crossing {
  const fields = fieldsOf(given);
  const id = readCount(fields.id);
  const value = wireOf(wire);
  if (fields.kind === 'call') return { kind: 'call', id, fn: readCount(fields.fn), wire: value };
  if (fields.kind === 'answer') return { kind: 'answer', id, ok: readBoolean(fields.ok), wire: value };
  throw new Error('a crossing that is neither call nor answer');
}

function readRemark(given: unknown, wire: Wire | undefined): Remark {
  const fields = fieldsOf(given);
  const value = wireOf(wire);
  if (fields.kind === 'report') return { kind: 'report', wire: value };
  if (fields.kind !== 'log') throw new Error('a remark that is neither report nor log');
  const level = readCount(fields.level);
  if (level >= LOG_LEVELS.length) throw new Error('a log of unknown level');
  return { kind: 'log', level, wire: value };
}

function readSettlement(given: unknown, wire: Wire | undefined): Settlement {
  const fields = fieldsOf(given);
  const { status } = fields;
  if (status === 'success') return { status, wire: wireOf(wire), held: readBoolean(fields.held) };
  if (status === 'error' || status === 'link_error' || status === 'memory')
    return { status, error: readError(fields.error) };
  throw new Error('a settlement of unknown status');
}

function readError(given: unknown): CodeExecutionError {
  const fields = fieldsOf(given);
  const { errorNameLength, errorMessageLength, errorStackLength } = SANDBOX_LIMITS;
  return {
    name: readText(fields.name, errorNameLength),
    message: readText(fields.message, errorMessageLength),
    ...(fields.stack === undefined ? {} : { stack: readText(fields.stack, errorStackLength) }),
    ...(fields.line === undefined ? {} : { line: readCount(fields.line) }),
    ...(fields.column === undefined ? {} : { column: readCount(fields.column) }),
    ...(fields.filename === undefined ? {} : { filename: readText(fields.filename, errorMessageLength) }),
    ...(fields.specifier === undefined ? {} : { specifier: readText(fields.specifier, errorMessageLength) }),
  };
}

function fieldsOf(given: unknown): Fields {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new Error('expected an object');
  return given as Fields;
}

function wireOf(wire: Wire | undefined): Wire {
  if (!wire) throw new Error('a missing value');
  return wire;
}

function readCount(given: unknown): number {
  if (!Number.isSafeInteger(given) || (given as number) < 0)
    throw new Error('expected a non-negative integer');
  return given as number;
}

function readBoolean(given: unknown): boolean {
  if (typeof given !== 'boolean') throw new Error('expected a boolean');
  return given;
}

/** Cut texts have one more character, the ellipsis. */
function readText(given: unknown, longest: number): string {
  if (typeof given !== 'string') throw new Error('expected a string');
  if (given.length > longest + 1) throw new Error(`a text of ${given.length} characters, which is too long`);
  return given;
}
