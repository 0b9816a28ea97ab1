/**
 * Reads executions, of one thread or of all: each with the context that it ran with, given or derived from its id and
 * place.
 * - Every list is read from an index in the order in which it is returned: nothing is sorted, and a page costs its
 *   own length, however many executions there are (schema/migration-0001.ts). Rows that a further condition excludes
 *   are skipped.
 *
 * Whether the hooks at the end of an execution have run. Stored separately from the end: if a thread is terminated in
 * the store alone, the next worker that handles it runs the hooks. Marking twice changes nothing.
 */
import type { InferResult, SelectQueryBuilder } from 'kysely';
import { contextOf, withCancellation } from '../../core/governance/run-context.ts';
import { toCount } from '../schema/rows.ts';
import type { Tables } from '../schema/tables.ts';
import type { CommandContext } from '../transaction/context.ts';
import { updateRows } from '../transaction/rows.ts';
import { readCancellation } from '../transaction/run-context.ts';
import { readContext } from '../transaction/step-place.ts';
import type {
  EndingExecution,
  ExecutionPlace,
  ExecutionRecord,
  ListExecutions,
  RunRecordState,
} from './execution-record.ts';

function selectExecutions({ db }: Pick<CommandContext, 'db'>) {
  return db
    .selectFrom('executions')
    .innerJoin('threads', 'threads.id', 'executions.thread_id')
    .selectAll('executions')
    .select(['threads.status', 'threads.agent as thread_agent', 'threads.root_id']);
}

type Row = InferResult<ReturnType<typeof selectExecutions>>[number];
type ExecutionQuery = SelectQueryBuilder<Tables, 'executions' | 'threads', Row>;

/** The execution with this id; without an id, the newest. Null if there is none. */
export async function getExecution(
  context: CommandContext,
  threadId: string,
  id?: string,
): Promise<ExecutionRecord | null> {
  const all = selectExecutions(context).where('executions.thread_id', '=', threadId);
  return first(id === undefined ? latestFirst(all) : all.where('executions.id', '=', id));
}

/** Finds an execution of any thread by its id, or by the run id of its context; the newest if several match. */
export async function findExecution(
  context: CommandContext,
  id: string,
  threadId?: string,
): Promise<ExecutionRecord | null> {
  const all = selectExecutions(context);
  const within = threadId === undefined ? all : all.where('executions.thread_id', '=', threadId);
  const asOwn = await first(latestFirst(within.where('executions.id', '=', id)));
  const asRun = await first(latestFirst(within.where('executions.run_id', '=', id)));
  if (asOwn && asRun) return asOwn.startedAt < asRun.startedAt ? asRun : asOwn;
  return asOwn ?? asRun;
}

/** The newest execution that had begun when the log's row `seq` was written. */
export async function getExecutionAt(
  context: CommandContext,
  threadId: string,
  seq: number,
): Promise<ExecutionRecord | null> {
  const all = selectExecutions(context).where('executions.thread_id', '=', threadId);
  return first(latestFirst(all.where('executions.first_seq', '<=', seq)));
}

/** Newest first. */
export async function listExecutions(
  context: CommandContext,
  options: ListExecutions = {},
): Promise<ExecutionRecord[]> {
  const { threadId, runId, sessionId, traceId, agent, state, before, limit } = options;
  let found = latestFirst(selectExecutions(context)).limit(toCount(limit, 50));
  if (threadId !== undefined) found = found.where('executions.thread_id', '=', threadId);
  if (runId !== undefined) found = found.where('executions.run_id', '=', runId);
  if (sessionId !== undefined) found = found.where('executions.session_id', '=', sessionId);
  if (traceId !== undefined) found = found.where('executions.trace_id', '=', traceId);
  if (agent !== undefined) found = found.where('executions.agent', '=', agent);
  if (state !== undefined) found = whereState(found, state);
  if (before !== undefined) found = whereBehind(found, before);
  return (await found.execute()).map(toExecutionRecord);
}

// The order of all indexes used here.
function latestFirst(query: ExecutionQuery): ExecutionQuery {
  return query
    .orderBy('executions.started_at', 'desc')
    .orderBy('executions.thread_id', 'desc')
    .orderBy('executions.id', 'desc');
}

function whereBehind(query: ExecutionQuery, { startedAt, threadId, id }: ExecutionPlace): ExecutionQuery {
  // The first condition follows from the second: it bounds an index that has the thread before the time.
  return query
    .where('executions.started_at', '<=', startedAt)
    .where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('executions.started_at', 'executions.thread_id', 'executions.id'),
        '<',
        tuple(startedAt, threadId, id),
      ),
    );
}

async function first(query: ExecutionQuery): Promise<ExecutionRecord | null> {
  const row = await query.limit(1).executeTakeFirst();
  return row ? toExecutionRecord(row) : null;
}

const CANCELED: readonly (keyof typeof ENDS)[] = ['stopped', 'terminated'];
const ENDS = { stopped: 'canceled', terminated: 'canceled', failed: 'failed' } as const;

function whereState(query: ExecutionQuery, state: RunRecordState): ExecutionQuery {
  switch (state) {
    case 'working':
      return query.where('executions.ended_at', 'is', null).where('threads.status', '<>', 'waiting');
    case 'input-required':
      return query.where('executions.ended_at', 'is', null).where('threads.status', '=', 'waiting');
    case 'completed':
      return query.where('executions.ended_at', 'is not', null).where('executions.ended_as', 'is', null);
    case 'canceled':
      return query.where('executions.ended_as', 'in', CANCELED);
    case 'failed':
      return query.where('executions.ended_as', '=', 'failed');
  }
}

function toExecutionRecord(row: Row): ExecutionRecord {
  const given = readContext(row.run_context);
  const canceled = readCancellation(row.cancel_request);
  const place = { executionId: row.id, rootId: row.root_id, agent: row.thread_agent };
  return {
    id: row.id,
    threadId: row.thread_id,
    agent: row.agent ?? row.thread_agent,
    state: stateOf(row),
    startedAt: row.started_at,
    endedAt: row.ended_at,
    stopReason: row.stop_reason,
    firstSeq: row.first_seq,
    // An execution that has ended keeps the agents that it had.
    context: withCancellation(given ?? contextOf({}, place), canceled),
    contextGiven: given !== null,
    canceled,
  };
}

function stateOf({ ended_at: endedAt, ended_as: endedAs, status }: Row): RunRecordState {
  if (endedAt === null) return status === 'waiting' ? 'input-required' : 'working';
  return endedAs === null ? 'completed' : ENDS[endedAs];
}

/** The newest execution, if its end hooks have not run and it is open or was ended by termination; else null. */
export async function findEnding(context: CommandContext, threadId: string): Promise<EndingExecution | null> {
  const row = await context.db
    .selectFrom('executions')
    .select(['id', 'ended_at', 'ended_as', 'end_told'])
    .where('thread_id', '=', threadId)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row || row.end_told !== null) return null;
  const terminated = row.ended_as === 'terminated';
  if (row.ended_at !== null && !terminated) return null;
  const record = await getExecution(context, threadId, row.id);
  return record && { ...record, terminated };
}

/** Records that its end hooks have run, or that there are none. */
export async function markEndHooksRun(context: CommandContext, threadId: string, id: string): Promise<void> {
  await updateRows(context.db, 'executions', { thread_id: threadId, id }, { end_told: 1 });
}
