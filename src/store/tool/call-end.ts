/**
 * How a call ends: by the answer of its attempt, or settled by the store. Either writes its one result (result.ts) and
 * all that goes with it.
 * - Of calls that were under way together (core/thread/call-group.ts), each end is stored at once, but becomes history
 *   in the returned order: while a call before it is open, the end waits in the call's row (state `finished`), and the
 *   transaction that ends the last of those stores it. So the messages, their times and the verdicts of guards are
 *   those of calls that ran one after another, whatever the order in which the bodies ended.
 * - If the execution ends before, what has finished keeps its own result.
 */

import { type ToolResult, type ToolStatus, UNKNOWN_OUTCOME } from '../../core/message/message.ts';
import type { RestStatus, StoredError } from '../../core/thread/step.ts';
import { isUsedUp } from '../../core/thread/step-limit.ts';
import { describeReconciled, readReconciliation } from '../../core/wait/reconciliation.ts';
import { closeAction, findActionOf } from '../action/action.ts';
import { budgetOf } from '../budget/account.ts';
import { restClocks } from '../budget/rest-clocks.ts';
import { releaseCalls } from '../family/child.ts';
import { enqueueTools } from '../message/queue.ts';
import { saveHandoff, saveScratch } from '../step/execution.ts';
import type { CommandContext } from '../transaction/context.ts';
import { type Owner, readOwner } from '../transaction/step-place.ts';
import { type CallRow, OPEN_CALL, selectStepCalls, updateCall } from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { reconcileKey } from '../wait/wait-row.ts';
import { emitLoop, watchCall } from './loop.ts';
import { removeCall, type SettledAs, settleCall, storeResult, UNKNOWN } from './result.ts';
import type { CommitTool, EndedCall } from './tool-record.ts';

type CallEnd =
  | { readonly kind: 'answered'; readonly command: CommitTool }
  | { readonly kind: 'settled'; readonly result: ToolResult; readonly as: SettledAs };

/** Ends a call. `owner`: of its step, if it is known. */
export async function endCall(
  context: CommandContext,
  thread: ThreadTransaction,
  call: CallRow,
  end: CallEnd,
  owner?: Owner,
): Promise<EndedCall> {
  if (call.parallel !== 1) return storeEnd(thread, call, end, owner);
  const ended = (await hasOpenBefore(thread, call))
    ? await deferEnd(thread, call, end)
    : await storeWithDeferred(thread, call, end, owner);
  await restClocks(context, thread, call.step);
  return ended;
}

async function storeEnd(
  thread: ThreadTransaction,
  call: CallRow,
  end: CallEnd,
  owner?: Owner,
): Promise<EndedCall> {
  if (end.kind === 'answered')
    return storeAnswer(thread, call, owner ?? (await readOwner(thread, call.step)), end.command);
  await settleCall(thread, call, end.result, end.as);
  return { queued: 0 };
}

/** Stores the result and all that goes with it. */
async function storeAnswer(
  thread: ThreadTransaction,
  call: CallRow,
  owner: Owner,
  { result, message, directive, loops, refused, ...command }: CommitTool,
): Promise<EndedCall> {
  if (command.judged)
    await closeAction(thread, await findActionOf(thread, call), result ?? { status: 'success' });
  const watched = loops && result && (await watchCall(thread, call, { guard: loops, result, owner }));
  const shown = { directive, refused, watched: watched?.columns, ...message };
  if (result) await storeResult(thread, call, { result, ...shown }, owner);
  else await removeCall(thread, call, directive);
  const denied = watched && emitLoop(thread, call, watched, owner);
  await saveScratch(thread, owner.executionId, command.context);
  const { nextAgent, nextInput, queuedTools } = command;
  const seeded = nextAgent === undefined ? 0 : await saveHandoff(thread, nextAgent, nextInput);
  await enqueueTools(thread, queuedTools);
  return { queued: queuedTools.length + seeded, denied: denied ?? undefined };
}

async function hasOpenBefore(thread: ThreadTransaction, { step, idx }: CallRow): Promise<boolean> {
  const open = await thread
    .select('tool_calls', { step, state: OPEN_CALL })
    .select('idx')
    .where('idx', '<', idx)
    .limit(1)
    .executeTakeFirst();
  return open !== undefined;
}

/** Keeps the end in the call's row. What it says of the call counts from now on; nothing else does. */
async function deferEnd(thread: ThreadTransaction, call: CallRow, end: CallEnd): Promise<EndedCall> {
  const { result, directive } =
    end.kind === 'answered' ? end.command : { result: end.result, directive: undefined };
  await updateCall(thread, call, {
    state: 'finished',
    status: result?.status ?? null,
    ended_at: thread.now,
    directive: directive ?? null,
    deferred: JSON.stringify(end),
  });
  return { queued: 0 };
}

async function storeWithDeferred(
  thread: ThreadTransaction,
  call: CallRow,
  end: CallEnd,
  owner: Owner | undefined,
): Promise<EndedCall> {
  const own = await storeEnd(thread, call, end, owner);
  const later = await thread
    .select('tool_calls', { step: call.step })
    .selectAll()
    .where('idx', '>', call.idx)
    .orderBy('idx')
    .execute();
  const open = later.findIndex(({ state }) => state !== 'finished');
  let [queued, denied] = [own.queued, own.denied];
  const released: string[] = [];
  for (const each of open === -1 ? later : later.slice(0, open)) {
    const { ended, messageId } = await storeDeferred(thread, each);
    queued += ended.queued;
    denied ??= ended.denied;
    if (messageId !== undefined) released.push(messageId);
  }
  return { queued, denied, ...(released.length > 0 && { released }) };
}

/** Makes the end of a finished call history. */
async function storeDeferred(thread: ThreadTransaction, call: CallRow) {
  const end = readDeferred(call);
  // Hooks after the result may have changed the flow since.
  const directive = call.directive ?? undefined;
  const current: CallEnd = end.kind === 'answered' ? { ...end, command: { ...end.command, directive } } : end;
  await updateCall(thread, call, { deferred: null });
  const ended = await storeEnd(thread, call, current);
  const messageId = end.kind === 'answered' ? (end.command.message?.id ?? undefined) : undefined;
  return { ended, messageId };
}

function readDeferred({ deferred }: CallRow): CallEnd {
  return JSON.parse(deferred as string) as CallEnd;
}

/** The state that a finished call will have. */
export function stateOfFinished(call: CallRow): 'done' | 'unknown' {
  const end = readDeferred(call);
  return end.kind === 'settled' && end.as.settled === undefined ? 'unknown' : 'done';
}

const ENDED_REASON = 'the execution ended before this call had a result';

interface SettledBy {
  /** The error with which the execution ends. */
  readonly cause?: StoredError;
  /**
   * The call whose code terminates its thread. Its attempt keeps it, and replaces the result when the code has returned; if its
   * worker dies before, the call stays as it is settled here.
   */
  readonly by?: { readonly step: number; readonly index: number };
}

/** Ends every call of the thread that has no result yet, because its execution ends. */
export async function settleOpenCalls(
  thread: ThreadTransaction,
  status: RestStatus,
  { cause, by }: SettledBy = {},
): Promise<void> {
  const stopped = status === 'stopped' || status === 'terminated';
  const cutOff = budgetOf(thread.row)?.exceeded ?? (isUsedUp({ error: cause }) ? cause : undefined);
  const error = stopped ? 'stopped' : cutOff ? `${cutOff.code}: ${cutOff.message}` : ENDED_REASON;
  const calls = await selectStepCalls(thread.trx, thread.threadId)
    .selectAll('tool_calls')
    .where('tool_calls.state', 'in', OPEN_CALL)
    // A sub-prompt's calls end before the call that contains them.
    .orderBy('steps.depth', 'desc')
    .orderBy('tool_calls.step')
    .orderBy('tool_calls.idx')
    .execute();
  const metadata = stopped ? { stopped } : {};
  const settled = stopped ? status : budgetOf(thread.row)?.exceeded ? 'budget' : 'ended';
  for (const call of calls) {
    const { attempt } = call;
    if (call.state === 'finished') await storeDeferred(thread, call);
    else await settleCall(thread, call, { status: 'error', error }, { metadata, settled });
    if (call.step === by?.step && call.idx === by.index) await updateCall(thread, call, { attempt });
  }
  await releaseCalls(thread);
}

/** Settles a call whose wait for a report of its outcome is over (result.ts, R4); undefined if it had none. */
export async function settleByReconciliation(
  context: CommandContext,
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
    await endCall(context, thread, call, { kind: 'settled', result, as: UNKNOWN });
    return { state: 'unknown', status: 'error' };
  }
  const description = describeReconciled(reconciliation);
  const result: ToolResult = reconciliation.completed
    ? { status: 'success', result: description }
    : { status: 'error', error: description };
  const as = { metadata: { outcome: 'reconciled' }, settled: 'reconciled' } as const;
  await endCall(context, thread, call, { kind: 'settled', result, as });
  return { state: 'done', status: result.status };
}
