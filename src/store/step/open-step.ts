/** Opens new steps, each with the thread's next number, in the transaction that decided on it; and retries a step. */
import { endWait, settleUnreported } from '../budget/reserve.ts';
import type { Drained } from '../message/drain.ts';
import type { DrainedTool } from '../message/queued-tool.ts';
import type { CommandContext } from '../transaction/context.ts';
import type { StepRef } from '../transaction/from-run.ts';
import { updateRows } from '../transaction/rows.ts';
import { countStep, readOpenSteps, uncountStep } from '../transaction/step-count.ts';
import type { StepRow } from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { scheduleCalls } from './schedule-calls.ts';
import type { BeginStep, StepRecord } from './step-record.ts';
import { discardLost } from './stream.ts';

type OwnFields = Pick<StepRow, 'kind' | 'state'> &
  Partial<
    Pick<StepRow, 'directive' | 'parent_step' | 'parent_idx' | 'depth' | 'prompt' | 'arguments' | 'side'>
  >;

export async function insertStep(
  thread: ThreadTransaction,
  executionId: string,
  fields: OwnFields,
): Promise<number> {
  const step = thread.row.last_step + 1;
  thread.set({ last_step: step });
  countStep(thread, { step, side: thread.row.side, ...fields });
  await thread.insert('steps', {
    step,
    execution_id: executionId,
    attempt: 1,
    text: 0,
    first_seq: thread.row.event_seq,
    opened_at: thread.now,
    closed_at: fields.state === 'open' ? null : thread.now,
    depth: 0,
    side: thread.row.side,
    ...fields,
  });
  return step;
}

/** Opens the step of a model call; the activity makes the call itself. */
export async function openModelStep(
  context: CommandContext,
  thread: ThreadTransaction,
  command: BeginStep,
  drained: Drained,
): Promise<number> {
  // A step that a retired run left open will never be committed: its run is fenced off.
  for (const abandoned of await readOpenSteps(thread.trx, thread.row)) {
    await thread.update('steps', { step: abandoned.step }, { state: 'abandoned', closed_at: thread.now });
    uncountStep(thread, abandoned);
    await settleUnreported(context, thread, abandoned);
  }
  const { executionId, directive = null } = command;
  const step = await insertStep(thread, executionId, { kind: 'model', state: 'open', directive });
  thread.set({ turn_open: 1 });
  const { side } = thread.row;
  const eventData = { items: command.items.length + drained.swept, side: side === 'b' ? side : undefined };
  thread.emit('step.started', eventData, { step, attempt: 1 });
  return step;
}

/** Opens the step of queued tools. It needs no answer, so it is committed as it opens. */
export async function openToolStep(
  thread: ThreadTransaction,
  { executionId, ...asked }: Pick<BeginStep, 'executionId'> & Pick<StepRecord, 'directive'>,
  tools: readonly DrainedTool[],
  kind: 'tools' | 'immediate' = 'tools',
): Promise<number> {
  const { directive = null } = asked;
  const step = await insertStep(thread, executionId, { kind, state: 'committed', directive });
  await scheduleCalls(thread, step, tools);
  return step;
}

/**
 * Gives up this attempt as its worker shuts down: the log then reports that, and not a lost worker, as the reason for
 * the next attempt. No effect once that has begun.
 */
export async function handOverStep(
  context: CommandContext,
  { threadId, step, attempt }: StepRef,
): Promise<void> {
  await updateRows(
    context.db,
    'steps',
    { thread_id: threadId, step, attempt, state: 'open' },
    { handed_over: attempt },
  );
}

/** Begins another attempt at an open step whose worker was lost, or has shut down. Returns the attempt's number. */
export async function retryStep(
  context: CommandContext,
  thread: ThreadTransaction,
  {
    step,
    attempt: before,
    handed_over,
    left,
  }: Pick<StepRow, 'step' | 'attempt' | 'handed_over'> & Pick<BeginStep, 'left'>,
): Promise<number> {
  const attempt = before + 1;
  await thread.update('steps', { step }, { attempt });
  // `model.held` has told why, and no call is open.
  if (left) return attempt;
  await thread.update('model_calls', { step, state: 'started' }, { state: 'lost', ended_at: thread.now });
  await settleUnreported(context, thread, { step });
  const handedOver = handed_over === before;
  const why = handedOver ? 'its worker has shut down' : 'its worker was lost';
  const reason = endWait(thread) ? 'other requests had reserved the rest of its budget' : why;
  await discardLost(thread, { step, attempt: before }, handedOver ? 'WorkerShutdown' : 'WorkerLost');
  thread.emit('step.retried', { reason, handedOver: handedOver || undefined }, { step, attempt });
  return attempt;
}
