/**
 * What a thread's model may know of its subagents, and how often it has asked in its execution: read from the rows of
 * its calls and its children.
 */

import type { Transaction } from 'kysely';
import { STATUS_QUERY, type SubagentState, toStatusGuard } from '../../core/guard/status-query.ts';
import { isOwnStatus } from '../../core/thread/subagent-report.ts';
import type { Tables } from '../schema/tables.ts';
import { type CallKey, selectStepCalls } from '../transaction/call-row.ts';
import { type CommandContext, inSnapshot, unknownThread } from '../transaction/context.ts';
import { findRow, selectRows } from '../transaction/rows.ts';
import { isAtWork, readTeam } from '../transaction/team-limit.ts';
import type { ChildRow } from './child.ts';
import type { TeamStatus } from './child-record.ts';

const MAX_SUBAGENTS = 50;

export async function readTeamStatus(
  context: CommandContext,
  parentId: string,
  call: CallKey,
): Promise<TeamStatus> {
  return inSnapshot(context, async (trx) => {
    const thread = await findRow(trx, 'threads', { id: parentId });
    if (!thread) throw unknownThread(context.storeId, parentId);
    const { limits } = readTeam(thread);
    return {
      limits: thread.parent_id === null ? toStatusGuard(limits) : null,
      earlier: await readEarlier(context, trx, parentId, call),
      subagents: thread.child_count === 0 ? [] : await readSubagents(trx, parentId),
    };
  });
}

/** Counts the answered queries of the same execution. */
async function readEarlier(
  context: CommandContext,
  trx: Transaction<Tables>,
  threadId: string,
  { step, index }: CallKey,
): Promise<TeamStatus['earlier']> {
  const { count, last } = await selectStepCalls(trx, threadId)
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.max('tool_calls.ended_at').as('last')])
    .where('tool_calls.name', '=', STATUS_QUERY)
    .where('tool_calls.status', '=', 'success')
    .where((eb) => eb.not(eb.and([eb('tool_calls.step', '=', step), eb('tool_calls.idx', '=', index)])))
    .where('steps.execution_id', '=', (eb) =>
      eb
        .selectFrom('steps as asking')
        .select('asking.execution_id')
        .where('asking.thread_id', '=', threadId)
        .where('asking.step', '=', step),
    )
    .executeTakeFirstOrThrow();
  return { count, sinceMs: last == null ? null : Math.max(0, (context.now() - last) / 1000) };
}

/** The newest subagents, at most MAX_SUBAGENTS, oldest first. */
async function readSubagents(trx: Transaction<Tables>, parentId: string): Promise<SubagentState[]> {
  const rows = await trx
    .selectFrom('children')
    .innerJoin('threads', 'threads.id', 'children.child_id')
    .selectAll('children')
    .select('threads.status as thread_status')
    .where('children.parent_id', '=', parentId)
    .orderBy('children.created_at', 'desc')
    .orderBy('children.child_id')
    .limit(MAX_SUBAGENTS)
    .execute();
  const ids = rows.map(({ child_id: id }) => id);
  const reports = await trx
    .selectFrom('child_reports')
    .select(['child_id', 'kind'])
    .where('child_id', 'in', ids)
    .orderBy('created_at')
    .execute();
  const paused = await selectRows(trx, 'waits', { kind: 'paused', state: 'open' })
    .select('thread_id')
    .where('thread_id', 'in', ids)
    .execute();
  const newest = new Map(reports.map(({ child_id: id, kind }) => [id, kind]));
  const isPaused = new Set(paused.map(({ thread_id: id }) => id));
  return rows.reverse().map((row) => {
    const report = newest.get(row.child_id);
    const rests = report === 'result' ? 'completed' : (report ?? 'idle');
    const works = isPaused.has(row.child_id)
      ? 'paused'
      : row.thread_status === 'waiting'
        ? 'waiting'
        : 'running';
    const status =
      isAtWork(row, { row: { status: row.thread_status } }) && row.terminated_at === null ? works : rests;
    return {
      agent_id: row.child_id,
      role: row.agent,
      name: row.name ?? undefined,
      status: status === 'failure' ? 'failed' : status,
      ...toText(row),
    };
  });
}

const toText = ({ status }: Pick<ChildRow, 'status'>) => (isOwnStatus(status) ? { text: status } : {});
