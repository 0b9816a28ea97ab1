/** What became of an action whose end is unknown, as a person says it: beside a wait, or as the value of the one that asks. */
import { isRecord } from '../value/record.ts';
import type { WaitAnswer } from './answer.ts';

export interface Reconciliation {
  /** Whether it has taken effect. */
  readonly completed: boolean;
  readonly note?: string;
  readonly by?: string;
}

export const NOTE_CHARS = 2000;
const FIELDS = new Set(['completed', 'note']);

/** Of an answer with `{ value: { completed, note? } }`; undefined of any other. */
export function readReconciliation(answer: WaitAnswer | null): Reconciliation | undefined {
  if (!answer || !('value' in answer)) return undefined;
  const { value, by } = answer;
  if (!isRecord(value) || Object.keys(value).some((field) => !FIELDS.has(field))) return undefined;
  const { completed, note } = value;
  if (typeof completed !== 'boolean' || !(note === undefined || isNote(note))) return undefined;
  return { completed, ...(note === undefined ? {} : { note }), ...(by === undefined ? {} : { by }) };
}

function isNote(value: unknown): value is string {
  return typeof value === 'string' && value.length <= NOTE_CHARS;
}

/** The answer that says it. */
export function toReconciling({ completed, note, by }: Reconciliation): WaitAnswer {
  return {
    value: { completed, ...(note === undefined ? {} : { note }) },
    ...(by === undefined ? {} : { by }),
  };
}

/** What the model reads of the call. */
export function describeReconciled({ completed, note, by }: Reconciliation): string {
  const who = by ?? 'A person';
  const what = completed ? 'it has taken effect' : 'it has not taken effect';
  return `The process that ran the tool was lost. ${who} says that ${what}${note === undefined ? '.' : `: ${note}`}`;
}
