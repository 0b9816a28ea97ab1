/**
 * Cancels an execution (docs/governance.md): the request is stored with it, and the first one counts. From then on none
 * of its steps begins (begin-step.ts), and however it ends, it ends as cancelled (thread/status.ts).
 */
import type { CancelVerdict } from '../../core/governance/cancellation.ts';
import type { CancelExecution } from '../execution/execution-record.ts';
import { cancelBeforeBegin } from '../message/cancel-ahead.ts';
import { type CommandContext, inThread } from '../transaction/context.ts';
import { readCancellation, toCancellation } from '../transaction/run-context.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';

/**
 * Stores the request with the named execution, which may not have begun yet, or with the running one; the first
 * request counts. From then on none of its steps begins, and it ends as cancelled. Rejects with `ThreadNotFound`.
 */
export async function cancelExecution(
  context: CommandContext,
  { threadId, executionId, reason, by }: CancelExecution,
): Promise<CancelVerdict> {
  return inThread(context, threadId, async (thread) => {
    const found = await findExecution(thread, executionId);
    const request = toCancellation({ reason, by }, thread.now);
    if (!found) {
      const ahead = executionId === undefined ? null : await cancelBeforeBegin(thread, executionId, request);
      if (executionId === undefined || ahead === null) return { kind: 'not_found' };
      return { kind: 'canceling', executionId, cancellation: ahead, ahead: true };
    }
    const { id, ended_at: endedAt, stop_reason: stopReason } = found;
    if (endedAt !== null) return { kind: 'not_cancelable', executionId: id, stopReason };
    const known = readCancellation(found.cancel_request);
    if (known) return { kind: 'canceling', executionId: id, cancellation: known };
    await thread.update('executions', { id }, { cancel_request: request });
    return { kind: 'canceling', executionId: id, cancellation: JSON.parse(request) };
  });
}

/** The named execution; without a name the open one, or the last one. */
async function findExecution(thread: ThreadTransaction, executionId: string | undefined) {
  const all = thread.select('executions').select(['id', 'ended_at', 'stop_reason', 'cancel_request']);
  if (executionId !== undefined) return all.where('id', '=', executionId).executeTakeFirst();
  const open = await all.where('ended_at', 'is', null).limit(1).executeTakeFirst();
  return open ?? all.orderBy('started_at', 'desc').limit(1).executeTakeFirst();
}
