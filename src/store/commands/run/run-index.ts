/** Reads of the index of runs: rows of executions, with their thread where that says more. */
import type { SelectQueryBuilder } from 'kysely';
import type { ListRuns, RunRecord, RunRecordState } from '../../port/run-index.ts';
import { toCount } from '../../schema/rows.ts';
import type { Tables } from '../../schema/tables.ts';
import type { CommandContext } from '../base/context.ts';

function selectRuns({ db }: CommandContext) {
  return db
    .selectFrom('executions')
    .innerJoin('threads', 'threads.id', 'executions.thread_id')
    .select([
      'executions.thread_id',
      'executions.id',
      'executions.agent',
      'executions.run_id',
      'executions.session_id',
      'executions.trace_id',
      'executions.started_at',
      'executions.ended_at',
      'executions.stop_reason',
      'executions.first_seq',
      'executions.ended_as',
      'threads.status',
      'threads.agent as thread_agent',
    ]);
}

type ExecutionQuery<Row> = SelectQueryBuilder<Tables, 'executions' | 'threads', Row>;
type RunQuery = ReturnType<typeof selectRuns>;
type RunRow = RunQuery extends SelectQueryBuilder<infer _Tables, infer _Names, infer Row> ? Row : never;

/** The latest first, and those alone for which all that is asked holds: for whatever is selected of executions. */
export function filterExecutions<Row>(query: ExecutionQuery<Row>, options: ListRuns): ExecutionQuery<Row> {
  const { threadId, runId, sessionId, traceId, agent, state, limit } = options;
  let found = query
    .orderBy('executions.started_at', 'desc')
    .orderBy('executions.first_seq', 'desc')
    .limit(toCount(limit, 50));
  if (threadId !== undefined) found = found.where('executions.thread_id', '=', threadId);
  if (runId !== undefined) found = found.where('executions.run_id', '=', runId);
  if (sessionId !== undefined) found = found.where('executions.session_id', '=', sessionId);
  if (traceId !== undefined) found = found.where('executions.trace_id', '=', traceId);
  if (agent !== undefined) found = found.where('executions.agent', '=', agent);
  return state === undefined ? found : whereState(found, state);
}

export async function listRuns(context: CommandContext, options: ListRuns = {}): Promise<RunRecord[]> {
  return (await filterExecutions(selectRuns(context), options).execute()).map(toRunRecord);
}

export async function getRun(
  context: CommandContext,
  id: string,
  threadId?: string,
): Promise<RunRecord | null> {
  let query = selectRuns(context)
    .where((or) => or.or([or('executions.id', '=', id), or('executions.run_id', '=', id)]))
    .orderBy('executions.started_at', 'desc')
    .limit(1);
  if (threadId !== undefined) query = query.where('executions.thread_id', '=', threadId);
  const row = await query.executeTakeFirst();
  return row ? toRunRecord(row) : null;
}

export async function getRunAt(
  context: CommandContext,
  threadId: string,
  seq: number,
): Promise<RunRecord | null> {
  const row = await selectRuns(context)
    .where('executions.thread_id', '=', threadId)
    .where('executions.first_seq', '<=', seq)
    .orderBy('executions.first_seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? toRunRecord(row) : null;
}

const CANCELED: readonly (keyof typeof ENDS)[] = ['stopped', 'terminated'];
const ENDS = { stopped: 'canceled', terminated: 'canceled', failed: 'failed' } as const;

function whereState<Row>(query: ExecutionQuery<Row>, state: RunRecordState): ExecutionQuery<Row> {
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

function toRunRecord(row: RunRow): RunRecord {
  return {
    threadId: row.thread_id,
    id: row.id,
    runId: row.run_id ?? row.id,
    sessionId: row.session_id,
    traceId: row.trace_id,
    agent: row.agent ?? row.thread_agent,
    state: stateOf(row),
    reason: row.stop_reason,
    startedAt: Number(row.started_at),
    endedAt: row.ended_at === null ? null : Number(row.ended_at),
    firstSeq: row.first_seq === null ? null : Number(row.first_seq),
  };
}

function stateOf({ ended_at: endedAt, ended_as: endedAs, status }: RunRow): RunRecordState {
  if (endedAt === null) return status === 'waiting' ? 'input-required' : 'working';
  return endedAs === null ? 'completed' : ENDS[endedAs];
}
