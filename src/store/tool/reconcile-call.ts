/**
 * A call whose worker was lost, and whose policy has a person report the outcome (`onUncertain: 'wait'`).
 * R1. Its action is uncertain as soon as the wait opens: `reconcile` and an answer of the wait have the same effect.
 * R2. The call never begins again: the end of its wait is its result. Without a report, the outcome stays unknown.
 */
import { randomUUID } from 'node:crypto';
import type { ToolResult, ToolStatus } from '../../core/message/message.ts';
import { parseArguments } from '../../core/message/tool-call.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { describeReconciled, readReconciliation } from '../../core/wait/reconciliation.ts';
import { type ActionRow, closeStarted, findActionOf } from '../action/action.ts';
import { settleCall } from '../step/tool-result.ts';
import type { CallRow } from '../transaction/call-row.ts';
import type { CommandContext } from '../transaction/context.ts';
import { readOwner } from '../transaction/step-place.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { insertWait } from '../wait/wait.ts';
import type { OpenWait, Wait } from '../wait/wait-record.ts';
import { reconcileKey } from '../wait/wait-row.ts';

export const UNKNOWN_OUTCOME =
  'The outcome of this call is unknown: the process that ran the tool was lost after it began and before it ' +
  'reported. It may or may not have taken effect. Check before you repeat it.';

/**
 * Opens the wait of a call that has begun. Undefined if no policy has judged the call: it has no action to reconcile.
 */
export async function openReconcileWait(
  context: CommandContext,
  thread: ThreadTransaction,
  call: CallRow,
): Promise<Wait | undefined> {
  const action = await findActionOf(thread, call);
  if (action?.state !== 'started') return undefined;
  const { step, idx: index, name, call_id: toolCallId } = call;
  // R1: uncertain from now on, and so is what its body was invoking.
  await closeStarted(thread, call, { status: 'error', error: UNKNOWN_OUTCOME, uncertain: true });
  const { executionId } = await readOwner(thread, step);
  const command: OpenWait = {
    id: randomUUID(),
    threadId: thread.threadId,
    key: reconcileKey(call),
    kind: 'reconcile',
    name,
    summary: `"${name}" was running when its worker was lost: did it take effect?`,
    data: showUncertain(action, call),
    blocks: true,
    executionId,
    toolCallId,
    call: { step, index },
  };
  return insertWait(thread, command, { context, call, now: await context.clock(thread.trx) });
}

/** The wait's data; only the action's id and time if there is no room for more. */
function showUncertain({ id: actionId, prepared }: ActionRow, call: CallRow): object {
  const named = { actionId, startedAt: call.started_at };
  const shown = { ...named, arguments: parseArguments(call.arguments) ?? {}, ...JSON.parse(prepared) };
  return Buffer.byteLength(JSON.stringify(shown)) <= LIMITS.waitBytes ? shown : named;
}

/** R2. Settles a call whose wait for a report is over; undefined if it had none. */
export async function settleByReconciliation(
  thread: ThreadTransaction,
  call: CallRow,
): Promise<{ readonly state: 'done' | 'unknown'; readonly status: ToolStatus } | undefined> {
  if (call.waits === 0) return undefined;
  const row = await thread.find('waits', { key: reconcileKey(call) });
  if (!row || row.state === 'open') return undefined;
  await thread.update('waits', { id: row.id }, { heard: 1 });
  const reconciliation = readReconciliation(row.answer === null ? null : JSON.parse(row.answer));
  if (!reconciliation) {
    const result: ToolResult = { status: 'error', error: UNKNOWN_OUTCOME };
    await settleCall(thread, call, result, 'unknown', { outcome: 'unknown' });
    return { state: 'unknown', status: 'error' };
  }
  const description = describeReconciled(reconciliation);
  const result: ToolResult = reconciliation.completed
    ? { status: 'success', result: description }
    : { status: 'error', error: description };
  await settleCall(thread, call, result, 'done', { outcome: 'reconciled' });
  return { state: 'done', status: result.status };
}
