/** Ends an execution in the store: its row, its one last event, and the results of one that was cancelled. */

import { CANCELED, type Cancellation } from '../../core/governance/cancellation.ts';
import type { CommitStatusInput } from '../../core/thread/step.ts';
import { applyHandoff } from '../step/handoff.ts';
import { selectStepCalls } from '../transaction/call-row.ts';
import { readCancellation } from '../transaction/run-context.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';

type Rest = Pick<CommitStatusInput, 'status' | 'reason' | 'error'>;

export interface EndedExecution {
  /** Null if none was open. */
  readonly executionId: string | null;
  readonly canceled: Cancellation | null;
}

/** Ends the turn too, whatever comes next: its input is history now, and is answered together with the next input. */
export async function endExecution(
  thread: ThreadTransaction,
  { status, reason }: Rest,
): Promise<EndedExecution> {
  const [ended] = await thread.trx
    .updateTable('executions')
    .set((eb) => {
      const unlessCanceled = <T extends string | null>(asItIs: T, canceled: T) =>
        status === 'terminated'
          ? eb.val(asItIs)
          : eb.case().when('cancel_request', 'is', null).then(asItIs).else(canceled).end();
      return {
        ended_at: thread.now,
        stop_reason: unlessCanceled<string>(reason ?? status, CANCELED),
        context: null,
        ended_as: unlessCanceled(status === 'idle' ? null : status, 'stopped'),
      };
    })
    .where('thread_id', '=', thread.threadId)
    .where('ended_at', 'is', null)
    .returning(['id', 'cancel_request'])
    .execute();
  thread.set({ turn_open: 0, answer_due: 0 });
  // As in R3 of status.ts: the handoff has waited for a step.
  applyHandoff(thread);
  const canceled = status === 'terminated' ? null : readCancellation(ended?.cancel_request ?? null);
  return { executionId: ended?.id ?? null, canceled };
}

/** Emits the one event that ends the execution, after all that was settled with it. */
export function emitEnd(
  thread: ThreadTransaction,
  { executionId, canceled }: EndedExecution,
  { status, reason, error }: Rest,
): void {
  if (executionId === null) return;
  thread.emit('execution.ended', {
    executionId,
    reason: reason ?? status,
    status: status === 'idle' ? undefined : status,
    error: status === 'idle' ? undefined : error,
    cancelReason: canceled?.reason || undefined,
    by: canceled?.by || undefined,
  });
}

/** Null if the last execution was not cancelled. */
export async function readLastEnd(thread: ThreadTransaction): Promise<Cancellation | null> {
  const last = await thread
    .select('executions')
    .select(['stop_reason', 'cancel_request'])
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.stop_reason === CANCELED ? readCancellation(last.cancel_request) : null;
}

/** Marks results of calls that ended after the request to cancel their execution; they are kept. */
export async function markLate(
  thread: ThreadTransaction,
  { executionId, canceled }: EndedExecution,
): Promise<void> {
  if (executionId === null || canceled === null) return;
  const late = await selectStepCalls(thread.trx, thread.threadId)
    .innerJoin('messages', (join) =>
      join
        .onRef('messages.thread_id', '=', 'tool_calls.thread_id')
        .onRef('messages.tool_call_id', '=', 'tool_calls.call_id'),
    )
    .select(['messages.id', 'messages.metadata'])
    .where('steps.execution_id', '=', executionId)
    .where('tool_calls.ended_at', '>=', canceled.at)
    .where('tool_calls.attempt', 'is not', null)
    .execute();
  for (const { id, metadata } of late) {
    const marked = { ...JSON.parse(metadata), completedAfterCancellation: true };
    await thread.update('messages', { id }, { metadata: JSON.stringify(marked) });
  }
}
