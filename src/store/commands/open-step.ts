/** New steps: each gets the thread's next number, in the transaction that decided on it. */
import type { Selectable } from 'kysely';
import type { BeginStep } from '../port.ts';
import type { StepTable } from '../schema.ts';
import type { ThreadTransaction } from '../thread-transaction.ts';
import type { Drained } from './queue.ts';
import { scheduleCalls } from './schedule-calls.ts';

type StepRow = Selectable<StepTable>;

async function insertStep(
  thread: ThreadTransaction,
  command: BeginStep,
  fields: Pick<StepRow, 'kind' | 'state'>,
): Promise<number> {
  const step = thread.row.last_step + 1;
  thread.set({ last_step: step });
  await thread.trx
    .insertInto('steps')
    .values({
      thread_id: thread.threadId,
      step,
      execution_id: command.executionId,
      ...fields,
      attempt: 1,
      message_id: null,
      model: null,
      text: 0,
      first_seq: thread.row.event_seq,
      opened_at: thread.now,
      closed_at: fields.state === 'open' ? null : thread.now,
    })
    .execute();
  return step;
}

/** Opens the step of a model call; the call itself is the activity's. */
export async function openModelStep(
  thread: ThreadTransaction,
  command: BeginStep,
  drained: Drained,
): Promise<number> {
  // A step that a retired run left open will never be committed: its run is fenced off.
  await thread.trx
    .updateTable('steps')
    .set({ state: 'abandoned', closed_at: thread.now })
    .where('thread_id', '=', thread.threadId)
    .where('state', '=', 'open')
    .execute();
  const step = await insertStep(thread, command, { kind: 'model', state: 'open' });
  thread.set({ turn_open: 1 });
  thread.emit('step.started', { items: command.items.length + drained.swept }, { step, attempt: 1 });
  return step;
}

/** Opens the step of queued tools. Nobody has to answer first, so it is committed as it opens. */
export async function openToolStep(
  thread: ThreadTransaction,
  command: BeginStep,
  drained: Drained,
): Promise<number> {
  const step = await insertStep(thread, command, { kind: 'tools', state: 'committed' });
  await scheduleCalls(thread, step, drained.tools);
  return step;
}
