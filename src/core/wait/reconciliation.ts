/** The outcome of an action whose end is unknown, as a person states it: without a wait, or as the answer to one. */
import { isRecord } from '../value/record.ts';
import type { WaitAnswer } from './answer.ts';

export interface Reconciliation {
  /** True if the action has taken effect. */
  readonly completed: boolean;
  readonly note?: string;
  readonly by?: string;
}

export const NOTE_CHARS = 2000;
const FIELDS = new Set(['completed', 'note']);

/** Reads an answer of the form `{ value: { completed, note? } }`; undefined for any other. */
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

/** Converts a reconciliation to the answer of a wait. */
export function toReconciling({ completed, note, by }: Reconciliation): WaitAnswer {
  return {
    value: { completed, ...(note === undefined ? {} : { note }) },
    ...(by === undefined ? {} : { by }),
  };
}

/** The text that the model reads as the outcome of the call. */
export function describeReconciled({ completed, note, by }: Reconciliation): string {
  const who = by ?? 'A person';
  const what = completed ? 'it took effect' : 'it did not take effect';
  return `The process that ran the tool was lost. ${who} reports that ${what}${note === undefined ? '.' : `: ${note}`}`;
}
