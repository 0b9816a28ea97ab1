/**
 * Reads what of a thread's log was not given out as spans yet, and stores how far it was.
 * - The key is the thread; the number of the row only grows. Whoever gives out a page before it is stored that another
 *   process has done so gives the same spans again.
 * - A thread without a cursor begins with the executions that are open, or have ended within a day: what was before
 *   OpenTelemetry was set up is not given out.
 */
import type { Kysely, Transaction } from 'kysely';
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import {
  TRACE_PART,
  type TracedCaller,
  type TracedExecution,
  type TracedRow,
  type TraceRoot,
} from '../../core/event/traced-row.ts';
import type { RunContext } from '../../core/governance/run-context.ts';
import { readEvent } from '../schema/rows.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inSnapshot } from '../transaction/context.ts';
import { findRow, selectRows } from '../transaction/rows.ts';
import { readContext } from '../transaction/step-place.ts';
import type { SaveTrace, TraceCursor, UntracedRows } from './trace-record.ts';

const PAGE = 500;
const DAY_US = 86_400_000_000;
/** Families are not deeper; also ends a loop in damaged data. */
const MAX_DEPTH = 100;

/** `known`: where the caller is, if that is further than what is stored. */
export async function readUntraced(
  context: CommandContext,
  threadId: string,
  known?: TraceCursor,
): Promise<UntracedRows> {
  return inSnapshot(context, async (db) => {
    const cursor = known ?? (await findCursor(db, threadId, context.now()));
    const found = await selectRows(db, 'events', { thread_id: threadId })
      .selectAll()
      .where('seq', '>', cursor.seq)
      .where('type', '<>', 'model.chunk')
      .orderBy('seq')
      .limit(PAGE)
      .execute();
    const rows = await describeRows(db, threadId, found.map(readEvent));
    return { cursor, rows, seq: found.at(-1)?.seq ?? cursor.seq, more: found.length === PAGE };
  });
}

async function findCursor(db: Transaction<Tables>, threadId: string, now: number): Promise<TraceCursor> {
  const known = await findRow(db, 'traces', { thread_id: threadId });
  if (known) return { seq: known.seq, state: JSON.parse(known.state) };
  const first = await selectRows(db, 'executions', { thread_id: threadId })
    .select('first_seq')
    .where((where) => where.or([where('ended_at', 'is', null), where('ended_at', '>', now - DAY_US)]))
    .where('first_seq', 'is not', null)
    .orderBy('started_at')
    .limit(1)
    .executeTakeFirst();
  if (first) return { seq: (first.first_seq ?? 1) - 1, state: null };
  const thread = await findRow(db, 'threads', { id: threadId }, ['event_seq']);
  return { seq: thread?.event_seq ?? 0, state: null };
}

async function describeRows(
  db: Transaction<Tables>,
  threadId: string,
  events: readonly ThreadEvent[],
): Promise<readonly TracedRow[]> {
  const firstChunks = await readFirstChunks(db, threadId, events);
  const rows: TracedRow[] = [];
  for (const event of events)
    if (event.type === 'execution.started')
      rows.push({ event, execution: await describeExecution(db, threadId, event.data.executionId) });
    else if (event.type === 'model.answered')
      rows.push({ event, firstChunk: firstChunks.get(requestOf(event, event.data.call)) });
    else if (event.type === 'execution.ended')
      rows.push({ event, links: (await readContextOf(db, threadId, event.data.executionId))?.traceLinks });
    else rows.push({ event });
  return rows;
}

async function readContextOf(
  db: Transaction<Tables>,
  threadId: string,
  executionId: string,
): Promise<RunContext | null> {
  const row = await findRow(db, 'executions', { thread_id: threadId, id: executionId }, ['run_context']);
  return readContext(row?.run_context ?? null);
}

const requestOf = ({ step = 0, attempt = 0 }: Pick<ThreadEvent, 'step' | 'attempt'>, call: number): string =>
  `${step}:${attempt}:${call}`;

/** Seconds until the first chunk of the requests that these rows answer. */
async function readFirstChunks(
  db: Transaction<Tables>,
  threadId: string,
  events: readonly ThreadEvent[],
): Promise<ReadonlyMap<string, number>> {
  const steps = events.flatMap(({ type, step = 0 }) => (type === 'model.answered' ? [step] : []));
  if (steps.length === 0) return new Map();
  const calls = await selectRows(db, 'model_calls', { thread_id: threadId })
    .select(['step', 'attempt', 'call', 'started_at', 'first_token_at'])
    .where('step', 'in', [...new Set(steps)])
    .execute();
  return new Map(
    calls.flatMap((call) =>
      call.first_token_at
        ? [[requestOf(call, call.call), (call.first_token_at - call.started_at) / 1_000_000] as const]
        : [],
    ),
  );
}

export async function describeTraced(
  context: CommandContext,
  threadId: string,
  executionId: string,
): Promise<TracedExecution> {
  return inSnapshot(context, (db) => describeExecution(db, threadId, executionId));
}

async function describeExecution(
  db: Transaction<Tables>,
  threadId: string,
  executionId: string,
): Promise<TracedExecution> {
  const row = await findRow(db, 'executions', { thread_id: threadId, id: executionId });
  const thread = await findRow(db, 'threads', { id: threadId }, ['agent', 'user_id']);
  const caller = await findCaller(db, threadId, executionId);
  return {
    agent: row?.agent ?? thread?.agent ?? 'unknown',
    ...traceNamesOf(row),
    ...(row?.session_id ? { sessionId: row.session_id } : {}),
    ...(thread?.user_id ? { userId: thread.user_id } : {}),
    ...(caller ? { calledBy: { ...caller, ...(await findRoot(db, caller, row?.started_at ?? 0)) } } : {}),
  };
}

type Caller = Omit<TracedCaller, 'root' | 'firstSeq' | 'isLong' | 'trace'>;

/** The call that has created the thread, if this is the thread's first execution. */
async function findCaller(
  db: Transaction<Tables>,
  threadId: string,
  executionId: string,
): Promise<Caller | undefined> {
  const child = await findRow(db, 'children', { child_id: threadId });
  if (!child || child.made_step === null || child.made_idx === null) return undefined;
  const first = await selectRows(db, 'executions', { thread_id: threadId })
    .select('id')
    .orderBy('started_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  if (first?.id !== executionId) return undefined;
  const place = { thread_id: child.parent_id, step: child.made_step };
  const step = await findRow(db, 'steps', place, ['execution_id']);
  const call = await findRow(db, 'tool_calls', { ...place, idx: child.made_idx }, ['call_id']);
  if (!step || !call) return undefined;
  return {
    threadId: child.parent_id,
    executionId: step.execution_id,
    step: child.made_step,
    callId: call.call_id,
    blocking: child.blocking === 1,
  };
}

async function findRoot(
  db: Transaction<Tables>,
  caller: Caller,
  startedAt: number,
): Promise<Pick<TracedCaller, 'root' | 'firstSeq' | 'isLong'>> {
  let { threadId, executionId } = caller;
  let row = await readExecution(db, threadId, executionId);
  const firstSeq = row?.first_seq ?? 1;
  let isLong = mayHaveParts(row, startedAt);
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const above = await findCaller(db, threadId, executionId);
    if (!above?.blocking) break;
    ({ threadId, executionId } = above);
    row = await readExecution(db, threadId, executionId);
    isLong ||= mayHaveParts(row, startedAt);
  }
  return { root: { threadId, executionId, ...traceNamesOf(row) }, firstSeq, isLong };
}

type ExecutionInLog = Awaited<ReturnType<typeof readExecution>>;

function readExecution(db: Transaction<Tables>, threadId: string, executionId: string) {
  return selectRows(db, 'executions', { thread_id: threadId })
    .innerJoin('threads', 'threads.id', 'executions.thread_id')
    .where('executions.id', '=', executionId)
    .select([
      'executions.trace_id',
      'executions.run_context',
      'executions.first_seq',
      'executions.started_at',
      'threads.event_seq',
    ])
    .executeTakeFirst();
}

/** A span ends with a row of its own. */
function mayHaveParts(row: ExecutionInLog, at: number): boolean {
  if (!row) return false;
  const rows = row.event_seq - (row.first_seq ?? 0);
  return at - row.started_at > TRACE_PART.waitUs || rows >= TRACE_PART.spans;
}

type TraceNames = Pick<TraceRoot, 'traceId' | 'traceparent'>;

/** A running execution keeps them: what joins it adds links alone. */
function traceNamesOf(
  row: { readonly trace_id: string | null; readonly run_context: string | null } | undefined,
) {
  const { traceparent } = readContext(row?.run_context ?? null) ?? {};
  return {
    ...(row?.trace_id ? { traceId: row.trace_id } : {}),
    ...(traceparent ? { traceparent } : {}),
  } satisfies TraceNames;
}

/** Does nothing if another process has come further. */
export async function saveTrace({ db }: CommandContext, { threadId, seq, state }: SaveTrace): Promise<void> {
  const row = { thread_id: threadId, seq, state: JSON.stringify(state) };
  await db
    .insertInto('traces')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column('thread_id')
        .doUpdateSet({ seq: row.seq, state: row.state })
        .where('traces.seq', '<', seq),
    )
    .execute();
}

/** Threads that have changed within a day, not later than `olderThanMs` ago, and whose log was not given out to its end. */
export async function listUntraced(
  context: CommandContext,
  olderThanMs: number,
  limit = 100,
): Promise<readonly string[]> {
  const now = context.now();
  const rows = await (context.db as Kysely<Tables>)
    .selectFrom('threads')
    .leftJoin('traces', 'traces.thread_id', 'threads.id')
    .select('threads.id')
    .where('threads.updated_at', '>', now - DAY_US)
    .where('threads.updated_at', '<', now - olderThanMs * 1000)
    .where((where) =>
      where.or([where('traces.seq', 'is', null), where('traces.seq', '<', where.ref('threads.event_seq'))]),
    )
    .orderBy('threads.updated_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}
