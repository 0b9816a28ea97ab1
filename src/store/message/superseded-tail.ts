/** What the tail of a history has done, by its part of the log: before it is superseded (supersede.ts). */

import type { EventKind, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { Message } from '../../core/message/message.ts';
import { MAX_LISTED, type PastCall } from '../../core/thread/past-call.ts';
import { toUsd } from '../../core/value/money.ts';
import { readEvent } from '../schema/rows.ts';
import { readInBatches } from '../transaction/rows.ts';
import type { CallRow } from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';

export type LogEvents = readonly ReturnType<typeof readEvent>[];

export interface TailLog {
  /** Number of the row that created the message at the point. */
  readonly from: number;
  readonly events: LogEvents;
}

/** Kinds of rows that say what was written. */
export const WRITES = ['value.changed', 'file.created', 'file.updated', 'file.deleted'] as const;

/** Kinds of rows that say what a part of a history has done. */
const TOLD = [
  'message.created',
  'step.started',
  ...WRITES,
  'effect.scheduled',
  'subagent.created',
  'subagent.messaged',
  'action.uncertain',
  'tool.unknown',
  'thread.agent',
  'thread.forked',
] as const satisfies readonly EventKind[];

const PAGE = 1000;

/** Reads the log backwards to the row that created the message. A copied message has no such row: then to the beginning. */
export async function readLog(thread: ThreadTransaction, { id }: Pick<Message, 'id'>): Promise<TailLog> {
  const found: ReturnType<typeof readEvent>[] = [];
  let before = thread.row.event_seq + 1;
  for (;;) {
    const rows = await thread
      .select('events')
      .selectAll()
      .where('seq', '<', before)
      .where('type', 'in', TOLD)
      .orderBy('seq', 'desc')
      .limit(PAGE)
      .execute();
    for (const event of rows.map(readEvent)) {
      found.push(event);
      if (event.type === 'message.created' && event.data.messageId === id)
        return { from: event.seq, events: found.toReversed() };
    }
    if (rows.length < PAGE) {
      const first = found.findLast(({ type }) => type !== 'thread.forked');
      return { from: first?.seq ?? before, events: found.toReversed() };
    }
    before = rows.at(-1)?.seq ?? 0;
  }
}

export function eventsOf<Kind extends EventKind>(
  events: LogEvents,
  ...kinds: readonly Kind[]
): readonly ThreadEventOf<Kind>[] {
  const wanted: readonly EventKind[] = kinds;
  return events.filter(({ type }) => wanted.includes(type)) as unknown as readonly ThreadEventOf<Kind>[];
}

/** Keys of values, and paths of files, that were written; the first 100 of each. */
export function writtenNames(events: LogEvents) {
  const files = eventsOf(events, 'file.created', 'file.updated', 'file.deleted');
  return {
    values: listed(distinct(eventsOf(events, 'value.changed').map(({ data }) => data.key))),
    files: listed(distinct(files.map(({ data }) => data.path))),
  };
}

export function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)];
}

/** Undefined if there is nothing. */
export function listed<Value>(values: readonly Value[]): readonly Value[] | undefined {
  return values.length === 0 ? undefined : values.slice(0, MAX_LISTED);
}

/** Numbers of the steps of the tail. */
export async function readSteps(thread: ThreadTransaction, { events }: TailLog): Promise<readonly number[]> {
  const first = firstStep(events);
  if (first === undefined) return [];
  const rows = await thread.select('steps').select('step').where('step', '>=', first).execute();
  return rows.map(({ step }) => step);
}

/** Steps are numbered in order. */
export function firstStep(events: LogEvents): number | undefined {
  const begun = eventsOf(events, 'step.started', 'message.created');
  const steps = begun.flatMap(({ step }) => (step === undefined ? [] : [step]));
  return steps.length === 0 ? undefined : Math.min(...steps);
}

/** Ids of actions whose outcome nobody knows. A call that no policy has judged has the id that its action would have. */
export async function findUnknown(
  thread: ThreadTransaction,
  events: LogEvents,
  steps: readonly number[],
): Promise<readonly string[]> {
  if (eventsOf(events, 'tool.unknown', 'action.uncertain').length === 0) return [];
  const named = eventsOf(events, 'action.uncertain').map(({ data }) => data.actionId);
  const calls = await readInBatches(steps, (batch) =>
    thread.select('tool_calls', { step: batch, state: 'unknown' }).select(['step', 'idx']).execute(),
  );
  const ids = distinct([...named, ...calls.map(({ step, idx }) => `${thread.threadId}:${step}:${idx}`)]);
  const settled = await readInBatches(ids, (batch) =>
    thread.select('actions', { id: batch }).select('id').where('state', '<>', 'uncertain').execute(),
  );
  const known = new Set(settled.map(({ id }) => id));
  return ids.filter((id) => !known.has(id));
}

export async function readCalls(
  thread: ThreadTransaction,
  steps: readonly number[],
): Promise<readonly PastCall[]> {
  const rows = await readInBatches(steps, (batch) =>
    thread
      .select('tool_calls', { step: batch })
      .select(['step', 'idx', 'call_id', 'name', 'state', 'status'])
      .where('started_at', 'is not', null)
      .execute(),
  );
  return rows.sort((one, other) => one.step - other.step || one.idx - other.idx).map(toPastCall);
}

/** A call that a hook has removed has no status. */
export function toPastCall({
  call_id: callId,
  name,
  state,
  status,
}: Pick<CallRow, 'call_id' | 'name' | 'state' | 'status'>): PastCall {
  return { callId, name, outcome: state === 'unknown' ? 'unknown' : (status ?? 'unknown') };
}

export async function readCost(
  thread: ThreadTransaction,
  steps: readonly number[],
): Promise<number | undefined> {
  const rows = await readInBatches(steps, (batch) =>
    thread.select('model_calls', { step: batch }).select('cost_pico').execute(),
  );
  const cost = rows.reduce((sum, { cost_pico: each }) => sum + (each ?? 0n), 0n);
  return cost === 0n ? undefined : toUsd(cost);
}

/** Calls that a fork has copied behind the point, as its log tells of them; none if the point is a message of its own. */
export async function readCopiedCalls(
  thread: ThreadTransaction,
  events: LogEvents,
  { created_at: at }: Pick<Message, 'created_at'>,
): Promise<readonly (PastCall & { readonly id: string })[]> {
  const [forked] = eventsOf(events, 'thread.forked');
  if (!forked) return [];
  const { from, effects } = forked.data;
  const { first } = await thread
    .select('messages')
    .select(({ fn }) => fn.min('step').as('first'))
    .where('created_at', '>', at)
    .executeTakeFirstOrThrow();
  return effects
    .filter(({ step }) => first !== null && step >= first)
    .map(({ step, callId, name, outcome }) => ({ id: `${from}:${step} (${callId})`, callId, name, outcome }));
}
