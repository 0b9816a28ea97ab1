/**
 * The presence of a task's adapter that lives in a process: a producer with `task/` and the task's id as its thread and
 * its execution, held by the queue that the adapter works for.
 * H1. A task has one queue; another process that works for the same queue is the same holder.
 * H2. A holder that was lost before its task existed has done nothing of it: another one may have the task.
 */

import type { CommandContext } from '../transaction/context.ts';
import { claimProducer, presenceDeadline } from './producer.ts';
import type { ProducerPresence } from './producer-record.ts';

/**
 * Claims the adapter of a task. True for the first holder to claim it, and for the next one if that holder was lost
 * before the task existed.
 */
export async function claimTask(
  context: CommandContext,
  { threadId, holder, presenceMs }: Omit<ProducerPresence, 'executionId'>,
): Promise<boolean> {
  // H2: if the producer is `ended`, the task's workflow is gone too.
  await context.db
    .updateTable('producers')
    .set({ state: 'open', holder, present_until: await presenceDeadline(context, presenceMs) })
    .where('thread_id', '=', threadId)
    .where('execution_id', '=', threadId)
    .where('state', '=', 'ended')
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('threads').select('id').where('id', '=', threadId))),
    )
    .execute();
  return claimProducer(context, { threadId, executionId: threadId, holder, presenceMs });
}

/** H1: renews the presence for everything that this holder has open. Returns how many. */
export async function renewAll(
  context: CommandContext,
  { holder, presenceMs }: Pick<ProducerPresence, 'holder' | 'presenceMs'>,
): Promise<number> {
  const renewed = await context.db
    .updateTable('producers')
    .set({ present_until: await presenceDeadline(context, presenceMs) })
    .where('state', '=', 'open')
    .where('holder', '=', holder)
    .returning('thread_id')
    .execute();
  return renewed.length;
}
