/**
 * Converts `state.context` for the store and back. What structured clone takes is kept; the rest is dropped and noted.
 * S1. It never throws: what code leaves in its scratch does not change the outcome of the code.
 * S2. A scratch of plain JSON is stored as JSON. Of another one, each key whose value JSON cannot hold is stored as
 *     `{"$clone": base64}`, the serialised clone.
 * S3. A key that does not fit into the limit is dropped whole.
 */
import { deserialize, serialize } from 'node:v8';
import { toJsonText } from '../../core/value/json-value.ts';
import { LIMITS, utf8Length } from '../../core/value/limit.ts';
import { isRecord } from '../../core/value/record.ts';
import type { Flow } from '../state/running-execution.ts';
import type { ThreadEnv } from '../state/thread-env.ts';
import { keepCloneable } from './cloneable.ts';

export interface WrittenScratch {
  /** Absent if the scratch has not changed since the work began. */
  readonly text?: string;
  /** What was dropped, and why; one line for each place. */
  readonly dropped: readonly string[];
}

export interface Scratch {
  readonly flow: Flow;
  /** The stored text of the scratch when it was opened. */
  readonly before: string;
  /** Adds a function that removes secrets, which the code has read, from what is written. */
  redactWith(redactKnown: ThreadEnv['redactKnown']): void;
  write(): WrittenScratch;
}

type Stored = Readonly<Record<string, unknown>>;

export function openScratch(stored: Stored): Scratch {
  const before = JSON.stringify(stored);
  const flow: Flow = { directive: undefined, scratch: readScratch(JSON.parse(before) as Stored) };
  const redactions: ThreadEnv['redactKnown'][] = [];
  const redact = <Value>(value: Value) => redactions.reduce((each, redactKnown) => redactKnown(each), value);
  return {
    flow,
    before,
    redactWith: (redactKnown) => void redactions.push(redactKnown),
    write() {
      const plain = toPlainText(redact, flow.scratch);
      const { text, dropped } =
        plain === undefined ? toMixedText(redact, flow.scratch) : { text: plain, dropped: [] };
      return text === before ? { dropped } : { text, dropped };
    },
  };
}

/** The values of a stored scratch, as the code left them. */
export function readScratch(stored: Stored): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(stored).map(([key, value]) => [key, isClone(value) ? readClone(value.$clone) : value]),
  );
}

function isClone(value: unknown): value is { readonly $clone: string } {
  return isRecord(value) && typeof value.$clone === 'string' && Object.keys(value).length === 1;
}

function readClone(text: string): unknown {
  try {
    return deserialize(Buffer.from(text, 'base64'));
  } catch {
    // Written by a version of Node that this one cannot read.
    return undefined;
  }
}

type Redact = <Value>(value: Value) => Value;

/** S2, plain JSON as JSON: undefined if the scratch is something else, or too large. */
function toPlainText(redact: Redact, scratch: Stored): string | undefined {
  try {
    if (Object.values(scratch).some(isClone)) return undefined;
    return toJsonText(redact(scratch), { name: 'state.context', maxBytes: LIMITS.scratchBytes });
  } catch {
    return undefined;
  }
}

/** S2, each key as it can be stored. */
function toMixedText(redact: Redact, scratch: Stored): { readonly text: string; readonly dropped: string[] } {
  const { value, dropped } = keepCloneable(scratch, 'state.context');
  const members: string[] = [];
  let bytes = 2;
  for (const [key, member] of Object.entries(redact(value) as Stored)) {
    if (member === undefined) continue;
    const text = `${JSON.stringify(key)}:${toMemberText(member)}`;
    bytes += utf8Length(text) + 1;
    if (bytes <= LIMITS.scratchBytes) members.push(text);
    else {
      // S3: dropped whole.
      dropped.push(`state.context.${key}: with it, the whole exceeds ${LIMITS.scratchBytes} bytes`);
      bytes -= utf8Length(text) + 1;
    }
  }
  return { text: `{${members.join(',')}}`, dropped };
}

function toMemberText(member: unknown): string {
  try {
    if (!isClone(member)) return toJsonText(member, { name: 'it', maxBytes: LIMITS.scratchBytes });
  } catch {
    // Not plain JSON.
  }
  return JSON.stringify({ $clone: serialize(member).toString('base64') });
}
