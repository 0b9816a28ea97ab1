/**
 * Logs (runtime §12): durable markers of what a thread did, read from rows that the work itself has written. An event
 * is written only for what no other row shows.
 */

import type { Kysely, Transaction } from 'kysely';
import type { GetLogsOptions, Log } from '../../core/author/thread-log.ts';
import { SUMMARY_CALLS } from '../../core/context/summary.ts';
import type { EventKind } from '../../core/event/thread-event.ts';
import { toUsd } from '../../core/value/money.ts';
import { toCount } from '../schema/rows.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inSnapshot, inThread, refuseTerminated } from './context.ts';
import type { NewEvent } from './event-record.ts';
import { readInBatches, selectRows } from './rows.ts';
import { type StepRow, selectStepCalls } from './step-row.ts';
import type { ThreadTransaction } from './thread-transaction.ts';

/**
 * Writes an event that code has made. Not idempotent unless `once` is set. Rejects with `ThreadTerminated`,
 * `ThreadNotFound`.
 */
export async function appendEvent(
  context: CommandContext,
  threadId: string,
  { type, data, step, once = false }: NewEvent,
): Promise<void> {
  await inThread(context, threadId, async (thread) => {
    refuseTerminated(thread);
    if (once && step !== undefined) {
      if (await hasEvent(thread, type, step)) return;
      // The step goes on, and the commit that ends it waits for the disk.
      thread.relax();
    }
    thread.emit(type, data, { step });
  });
}

async function hasEvent(thread: ThreadTransaction, type: EventKind, step: number): Promise<boolean> {
  const { trx, threadId } = thread;
  const opened = await thread.find('steps', { step }, ['first_seq']);
  const found = await trx
    .selectFrom('events')
    .select('seq')
    .where('thread_id', '=', threadId)
    // The step's own part of the log. A value, not a subquery: PostgreSQL cannot estimate a subquery's result, and
    // would scan the whole table.
    .where('seq', '>', opened?.first_seq ?? 0)
    .where('type', '=', type)
    .where('step', '=', step)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Events shown as logs, by the type that readers see. Texts, messages and calls are read from their own rows. */
const MARKERS: Partial<Record<EventKind, string>> = {
  'execution.aborted': 'execution',
  'execution.ended': 'execution',
  'execution.started': 'execution',
  'code.note': 'code',
  'code.stray': 'code',
  'effect.cancelled': 'effect',
  'effect.done': 'effect',
  'effect.failed': 'effect',
  'effect.scheduled': 'effect',
  'hook.failed': 'hook',
  'subagent.created': 'subagent',
  'subagent.failed': 'subagent',
  'subagent.messaged': 'subagent',
  'subagent.notified': 'subagent',
  'subagent.returned': 'subagent',
  'subagent.status': 'subagent',
  'thread.agent': 'thread',
  'thread.created': 'thread',
  'thread.forked': 'thread',
  'thread.status': 'thread',
  'thread.terminated': 'thread',
  'tool.invoked': 'tool_invocation',
  'variables.requested': 'subagent',
};

/**
 * Markers of what the thread did, made from its stored rows; newest first by default. As many entries of each kind are
 * read as may be needed, then sorted by time.
 */
export async function getLogs(
  context: CommandContext,
  threadId: string,
  options: GetLogsOptions = {},
): Promise<Log[]> {
  const { order = 'desc' } = options;
  const [limit, offset] = [toCount(options.limit, 100), toCount(options.offset, 0)];
  const wanted: LogQuery = { threadId, order, most: Math.min(limit + offset, Number.MAX_SAFE_INTEGER) };
  const found = await inSnapshot(context, async (db) => {
    const calls = [...(await readModelCalls(db, wanted)), ...(await readToolCalls(db, wanted))];
    return [...(await markStatusKinds(db, threadId, calls)), ...(await readMarkers(db, wanted))];
  });
  const sign = order === 'asc' ? 1 : -1;
  found.sort((a, b) => sign * (a.created_at - b.created_at || (a.id < b.id ? -1 : 1)));
  return found.slice(offset, offset + limit);
}

interface LogQuery {
  readonly threadId: string;
  readonly order: 'asc' | 'desc';
  readonly most: number;
}

/** A step of calls asks no model itself: its requests are those of immediate subagents, whose numbers are large too. */
export function isSummary({
  kind,
  call,
}: {
  readonly kind: StepRow['kind'];
  readonly call: number;
}): boolean {
  return call > SUMMARY_CALLS && (kind === 'model' || kind === 'prompt');
}

/** Model calls of a thread, each with its step. */
export function selectModelCalls(db: Kysely<Tables>, threadId: string) {
  return db
    .selectFrom('model_calls')
    .innerJoin('steps', (join) =>
      join
        .onRef('steps.thread_id', '=', 'model_calls.thread_id')
        .onRef('steps.step', '=', 'model_calls.step'),
    )
    .where('model_calls.thread_id', '=', threadId);
}

/** Without what they were sent, which is most of their rows. */
const LOGGED_CALL = [
  'model_calls.step',
  'model_calls.attempt',
  'model_calls.call',
  'model_calls.model',
  'model_calls.model_id',
  'model_calls.state',
  'model_calls.usage',
  'model_calls.cost_pico',
  'model_calls.price',
  'model_calls.error',
  'model_calls.started_at',
  'model_calls.first_token_at',
  'model_calls.ended_at',
  'steps.execution_id',
  'steps.kind',
] as const;

async function readModelCalls(
  db: Transaction<Tables>,
  { threadId, order, most }: LogQuery,
): Promise<StepLog[]> {
  const rows = await selectModelCalls(db, threadId)
    .select(LOGGED_CALL)
    .orderBy('model_calls.started_at', order)
    .limit(most)
    .execute();
  return rows.map((row) => ({
    id: `model:${row.step}:${row.attempt}:${row.call}`,
    type: 'model_call',
    data: {
      step: row.step,
      attempt: row.attempt,
      model: row.model,
      modelId: row.model_id,
      purpose: isSummary(row) ? 'compaction' : undefined,
      state: row.state,
      usage: parse(row.usage),
      cost: row.cost_pico === null ? null : toUsd(row.cost_pico),
      price: row.price === null ? undefined : parse(row.price),
      error: parse(row.error),
      latencyMs: elapsed(row.started_at, row.ended_at),
      firstTokenMs: elapsed(row.started_at, row.first_token_at),
    },
    created_at: row.started_at,
    parent_id: row.execution_id,
  }));
}

async function readToolCalls(
  db: Transaction<Tables>,
  { threadId, order, most }: LogQuery,
): Promise<StepLog[]> {
  const rows = await selectStepCalls(db, threadId)
    .selectAll('tool_calls')
    .select('steps.execution_id')
    .where('tool_calls.started_at', 'is not', null)
    .orderBy('tool_calls.started_at', order)
    .limit(most)
    .execute();
  return rows.map((row) => ({
    id: `tool:${row.step}:${row.idx}`,
    type: 'tool_call',
    data: {
      step: row.step,
      index: row.idx,
      name: row.name,
      callId: row.call_id,
      origin: row.origin,
      state: row.state,
      status: row.status,
      durationMs: elapsed(row.started_at, row.ended_at),
    },
    created_at: row.started_at ?? 0,
    parent_id: row.execution_id,
  }));
}

async function readMarkers(db: Transaction<Tables>, { threadId, order, most }: LogQuery): Promise<Log[]> {
  const rows = await selectRows(db, 'events', { thread_id: threadId, type: Object.keys(MARKERS) })
    .selectAll()
    .orderBy('seq', order)
    .limit(most)
    .execute();
  return rows.map((row) => {
    // Stacks are for those who maintain the project, not for code that reads logs.
    const { stack: _, ...data } = JSON.parse(row.data) as Record<string, unknown>;
    return {
      id: `event:${row.seq}`,
      type: MARKERS[row.type as EventKind] as string,
      data: { event: row.type, step: row.step ?? undefined, ...data },
      created_at: row.at,
      parent_id: typeof data.executionId === 'string' ? data.executionId : null,
    };
  });
}

const parse = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

/** Milliseconds between two times in microseconds; null if either is missing. */
function elapsed(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : (to - from) / 1000;
}

/** The log entry of a model call, or of a tool call. */
interface StepLog extends Log {
  readonly data: Readonly<Record<string, unknown>> & { readonly step: number };
}

/** `status_kind` (runtime §12): an author sets it in the metadata of the message that an entry is about. */
async function markStatusKinds(
  db: Transaction<Tables>,
  threadId: string,
  entries: readonly StepLog[],
): Promise<readonly Log[]> {
  const steps = [...new Set(entries.map(({ data }) => data.step))];
  const rows = await readInBatches(steps, (batch) =>
    selectRows(db, 'messages', { thread_id: threadId, step: batch })
      .select(['step', 'role', 'tool_call_id', 'metadata'])
      // Makes the index by execution usable.
      .where(
        'execution_id',
        'in',
        selectRows(db, 'steps', { thread_id: threadId, step: batch }).select('execution_id'),
      )
      .where('metadata', 'like', '%"status_kind"%')
      .execute(),
  );
  const kinds = new Map<string, string>();
  for (const { step, role, tool_call_id: callId, metadata } of rows) {
    const { status_kind: kind } = JSON.parse(metadata) as { status_kind?: unknown };
    if (typeof kind === 'string') kinds.set(placeOf(step, role === 'tool' ? callId : null), kind);
  }
  return entries.map((entry) => {
    const { step, callId = null } = entry.data;
    const kind = kinds.get(placeOf(step, callId as string | null));
    return kind === undefined ? entry : { ...entry, metadata: { status_kind: kind } };
  });
}

/** `callId` is null for the answer of the step itself. */
const placeOf = (step: number | null, callId: string | null): string => `${step} ${callId ?? ''}`;
