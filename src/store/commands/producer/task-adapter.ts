/**
 * The presence of a task's adapter that lives with its process: a producer under `task/` and the task's id, as both its thread and its execution, held by
 * the queue that the adapter works for.
 * H1. One queue for a task; another process that works for the same queue is the same holder.
 * H2. A holder that was lost before its task was there has done nothing of it: another one may have it.
 */
import type { ProducerPresence } from '../../port/producer.ts';
import type { CommandContext } from '../base/context.ts';
import { claimProducer, untilWhen } from './producer.ts';

export async function claimTask(
  context: CommandContext,
  { threadId, holder, presenceMs }: Omit<ProducerPresence, 'executionId'>,
): Promise<boolean> {
  // H2: its workflow is gone, too, where its producer is `ended`.
  await context.db
    .updateTable('producers')
    .set({ state: 'open', holder, present_until: await untilWhen(context, presenceMs) })
    .where('thread_id', '=', threadId)
    .where('execution_id', '=', threadId)
    .where('state', '=', 'ended')
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('threads').select('id').where('id', '=', threadId))),
    )
    .execute();
  return claimProducer(context, { threadId, executionId: threadId, holder, presenceMs });
}

/** H1: of all tasks of that queue. */
export async function renewAll(
  context: CommandContext,
  { holder, presenceMs }: Pick<ProducerPresence, 'holder' | 'presenceMs'>,
): Promise<number> {
  const renewed = await context.db
    .updateTable('producers')
    .set({ present_until: await untilWhen(context, presenceMs) })
    .where('state', '=', 'open')
    .where('holder', '=', holder)
    .returning('thread_id')
    .execute();
  return renewed.length;
}
