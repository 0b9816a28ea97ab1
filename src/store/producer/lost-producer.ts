/**
 * Ends what depended on a process that was lost: executions that its code produced, and tasks whose adapter it ran.
 * L1. Any worker may end a lost producer, and it ends once: if the process has renewed its presence since, it is not
 *     lost.
 * L2. A task ends here before its workflow does: it is `lost` until its workflow has been terminated too.
 */
import { adapterLost, type Produced, producerLost } from '../../core/thread/producer.ts';
import { isTaskThread, toTaskId } from '../../core/thread/task-start.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import { failTask } from '../task/end-task.ts';
import { type CommandContext, inThread } from '../transaction/context.ts';
import { updateRows } from '../transaction/rows.ts';
import { endProducer, findOpen } from './producer.ts';

const MAX_ROWS = 100;

/** Ends those whose process was lost, and their tasks, with `ProducerLost`. Returns how many. */
export async function closeLostProducers(context: CommandContext): Promise<number> {
  const lost = await context.db
    .selectFrom('producers')
    .select(['thread_id', 'execution_id'])
    .where('state', '=', 'open')
    .where('present_until', '<', await context.clock(context.db))
    .limit(MAX_ROWS)
    .execute();
  let closed = 0;
  for (const { thread_id: threadId, execution_id: executionId } of lost)
    closed += await closeLost(context, threadId, executionId);
  return closed;
}

async function closeLost(context: CommandContext, threadId: string, executionId: string): Promise<number> {
  const ofTask = isTaskThread(threadId);
  try {
    return await inThread(context, threadId, async (thread) => {
      const row = await findOpen(thread, executionId);
      // L1: the process may have renewed its presence since.
      if (!row || row.present_until >= (await context.clock(thread.trx))) return 0;
      if (!ofTask) await endProducer(thread, executionId, toLost(executionId));
      else {
        await failTask(context, thread, adapterLost(toTaskId(threadId)));
        await thread.update('producers', { execution_id: executionId }, { state: 'lost' });
      }
      return 1;
    });
  } catch (error) {
    if (!isRuntimeError(error, 'ThreadNotFound')) throw error;
    // Lost before its thread was created.
    await context.db
      .updateTable('producers')
      .set(ofTask ? { state: 'lost' } : { state: 'ended', produced: JSON.stringify(toLost(executionId)) })
      .where('thread_id', '=', threadId)
      .where('execution_id', '=', executionId)
      .where('state', '=', 'open')
      .where('present_until', '<', await context.clock(context.db))
      .execute();
    return 1;
  }
}

function toLost(executionId: string): Produced {
  return { ok: false, error: producerLost(executionId) };
}

/** Thread ids (`task/` plus the task's id) of `lost` tasks; 100 at most. */
export async function listLostTasks({ db }: CommandContext): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('producers')
    .select('thread_id')
    .where('state', '=', 'lost')
    .limit(MAX_ROWS)
    .execute();
  return rows.map(({ thread_id: threadId }) => threadId);
}

/** L2: ends a lost task's record, once its workflow has been terminated. */
export async function forgetLostTask({ db }: CommandContext, threadId: string): Promise<void> {
  await updateRows(db, 'producers', { thread_id: threadId, state: 'lost' }, { state: 'ended' });
}
