/** Lists waits that are over but whose threads have not gone on: a signal was lost, or an expiry was not noticed. */
import { TASK_ID_PREFIX } from '../../core/thread/task-start.ts';
import type { CommandContext } from '../transaction/context.ts';
import type { ForgottenWait } from './wait-record.ts';

const MAX_ROWS = 100;

/** Waits that have been over for at least this long, and whose call, step or task has not continued. At most 100. */
export async function listForgottenWaits(
  context: CommandContext,
  olderThanMs: number,
): Promise<readonly ForgottenWait[]> {
  const before = (await context.clock(context.db)) - olderThanMs * 1000;
  const rows = await context.db
    .selectFrom('waits')
    .leftJoin('tool_calls', (join) =>
      join
        .onRef('tool_calls.thread_id', '=', 'waits.thread_id')
        .onRef('tool_calls.step', '=', 'waits.step')
        .onRef('tool_calls.idx', '=', 'waits.idx'),
    )
    .leftJoin('executions', (join) =>
      join
        .onRef('executions.thread_id', '=', 'waits.thread_id')
        .onRef('executions.id', '=', 'waits.execution_id'),
    )
    .select(['waits.id', 'waits.thread_id'])
    .where('waits.heard', '=', 0)
    .where((eb) =>
      eb.or([
        eb.and([eb('tool_calls.state', '=', 'scheduled'), eb('waits.ended_at', '<', before)]),
        // A step waits for it.
        eb.and([
          ...[eb('waits.step', 'is', null), eb('waits.blocks', '=', 1), eb('waits.ended_at', '<', before)],
          ...[eb('executions.id', 'is not', null), eb('executions.ended_at', 'is', null)],
        ]),
        eb.and([eb('tool_calls.state', '=', 'asked'), eb('waits.expires_at', '<', before)]),
        // A task waits for it, and has no executions; a task's end marks all waits as heard
        // (task/end-task.ts).
        eb.and([
          ...[eb('waits.thread_id', 'like', `${TASK_ID_PREFIX}%`), eb('waits.blocks', '=', 1)],
          eb.or([eb('waits.ended_at', '<', before), eb('waits.expires_at', '<', before)]),
        ]),
      ]),
    )
    .orderBy('waits.opened_at')
    .limit(MAX_ROWS)
    .execute();
  return rows.map(({ id, thread_id: threadId }) => ({ id, threadId }));
}
