/** Reads of executions: each with the context that it ran with, given or made of its own id and place. */
import type { InferResult } from 'kysely';
import { contextOf, withCancellation } from '../../../core/governance/run-context.ts';
import type { ExecutionRecord, ListExecutions } from '../../port/execution.ts';
import type { CommandContext } from '../base/context.ts';
import { readCancellation } from '../base/run-context.ts';
import { readContext } from '../base/step-place.ts';
import { filterExecutions } from '../run/run-index.ts';

function selectExecutions({ db }: Pick<CommandContext, 'db'>) {
  return db
    .selectFrom('executions')
    .innerJoin('threads', 'threads.id', 'executions.thread_id')
    .selectAll('executions')
    .select(['threads.agent as thread_agent', 'threads.root_id']);
}

type Row = InferResult<ReturnType<typeof selectExecutions>>[number];

export async function getExecution(
  context: CommandContext,
  threadId: string,
  id?: string,
): Promise<ExecutionRecord | null> {
  const all = selectExecutions(context).where('executions.thread_id', '=', threadId);
  const row = await (id === undefined
    ? all.orderBy('executions.started_at', 'desc').limit(1)
    : all.where('executions.id', '=', id)
  ).executeTakeFirst();
  return row ? toExecutionRecord(row) : null;
}

export async function listExecutions(
  context: CommandContext,
  options: ListExecutions = {},
): Promise<ExecutionRecord[]> {
  return (await filterExecutions(selectExecutions(context), options).execute()).map(toExecutionRecord);
}

function toExecutionRecord(row: Row): ExecutionRecord {
  const given = readContext(row.run_context);
  const canceled = readCancellation(row.cancel_request);
  const place = { executionId: row.id, rootId: row.root_id, agent: row.thread_agent };
  return {
    id: row.id,
    threadId: row.thread_id,
    startedAt: Number(row.started_at),
    endedAt: row.ended_at === null ? null : Number(row.ended_at),
    stopReason: row.stop_reason,
    // One that has ended keeps the agents that had it.
    context: withCancellation(given ?? contextOf({}, place), canceled),
    contextGiven: given !== null,
    canceled,
  };
}
