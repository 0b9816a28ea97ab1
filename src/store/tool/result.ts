/**
 * Stores the end of a tool call (runtime §5): one tool message, the call's row, one event; or, if a hook removed the
 * call, only the row and an event.
 *
 * A call whose worker was lost, and whose policy has a person report the outcome (`onUncertain: 'wait'`).
 * - Its action is uncertain as soon as the wait opens: `reconcile` and an answer of the wait have the same effect.
 * R4. The call never begins again: the end of its wait is its result. Without a report, the outcome stays unknown.
 */
import { randomUUID } from 'node:crypto';
import type { FlowDirective } from '../../core/author/thread-execution.ts';
import type { SettleCause } from '../../core/event/cause.ts';
import {
  type ChangedMessage,
  type ToolCall,
  type ToolResult,
  toolContent,
  UNKNOWN_OUTCOME,
} from '../../core/message/message.ts';
import { parseArguments } from '../../core/message/tool-call.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { type ActionRow, closeStarted, findActionOf } from '../action/action.ts';
import { forgetMessage } from '../request/keep-request.ts';
import type { CommandContext } from '../transaction/context.ts';
import { type Owner, readOwner } from '../transaction/step-place.ts';
import { type CallRow, selectStepMessages, updateCall } from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { insertWait } from '../wait/wait.ts';
import type { OpenWait, Wait } from '../wait/wait-record.ts';
import { readArguments, reconcileKey } from '../wait/wait-row.ts';
import type { CommitTool } from './tool-record.ts';

interface CallResult extends ChangedMessage {
  readonly id?: string;
  readonly result: ToolResult;
  readonly state?: 'done' | 'unknown';
  readonly directive?: FlowDirective;
  /** Set if the tool must not run. */
  readonly refused?: true | undefined;
  /** Set if the result is not the tool's own. */
  readonly settled?: SettleCause | undefined;
  /** Further columns of the call's row (tool/loop.ts). */
  readonly watched?: Parameters<typeof updateCall>[2];
}

/**
 * Writes the one result of a call: the tool message, the call's end, the event. The message belongs to the
 * execution of its step, whichever run reports it.
 */
export async function storeResult(
  thread: ThreadTransaction,
  call: CallRow,
  { result, state = 'done', directive, refused, settled, watched, ...shown }: CallResult,
  { executionId, subprompt }: Owner,
): Promise<void> {
  // Not derived from the call's ids: senders may choose item ids, and two messages must not get the same id.
  const id = call.message_id ?? shown.id ?? randomUUID();
  await thread.insertMessage({
    content: toolContent(result),
    ...shown,
    id,
    role: 'tool',
    name: call.name,
    tool_call_id: call.call_id,
    tool_status: result.status,
    executionId,
    step: call.step,
    parent_id: subprompt?.parentId,
    depth: subprompt?.depth,
  });
  // A call that has finished before has its time.
  const ended = { state, status: result.status, ended_at: call.ended_at ?? thread.now, directive };
  await updateCall(thread, call, { ...ended, ...watched });
  const type = state === 'unknown' ? 'tool.unknown' : 'tool.result';
  const { stack } = result;
  const eventData = {
    name: call.name,
    callId: call.call_id,
    status: result.status,
    depth: subprompt?.depth,
    refused,
    settled,
    endedAt: call.ended_at ?? undefined,
    ...(stack === undefined || result.status === 'success'
      ? {}
      : { stack: stack.slice(0, LIMITS.faultChars) }),
  };
  thread.emit(type, eventData, { step: call.step });
}

/** Removes a call from history, as a hook asked: the message that made the call no longer names it. */
export async function removeCall(
  thread: ThreadTransaction,
  call: CallRow,
  directive: FlowDirective | undefined,
): Promise<void> {
  const messages = await selectStepMessages(thread.trx, thread.threadId, call.step)
    .select(['id', 'tool_calls'])
    .where('tool_calls', 'is not', null)
    .execute();
  // Each queued tool of a step has its own message.
  for (const message of messages) {
    const calls = message.tool_calls ? (JSON.parse(message.tool_calls) as ToolCall[]) : [];
    const kept = calls.filter(({ id }) => id !== call.call_id);
    if (kept.length === calls.length) continue;
    await thread.update(
      'messages',
      { id: message.id },
      { tool_calls: kept.length > 0 ? JSON.stringify(kept) : null },
    );
  }
  await updateCall(thread, call, {
    state: 'done',
    status: null,
    ended_at: call.ended_at ?? thread.now,
    directive,
  });
  thread.emit('tool.removed', { name: call.name, callId: call.call_id }, { step: call.step });
}

export interface SettledAs {
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Absent if the outcome is unknown. */
  readonly settled?: SettleCause;
}

/** The worker that ran the call was lost. */
export const UNKNOWN: SettledAs = { metadata: { outcome: 'unknown' } };

/** Gives a call a result that its attempt did not report; from now on that attempt is late (tool/tool.ts, T9). */
export async function settleCall(
  thread: ThreadTransaction,
  call: CallRow,
  result: ToolResult,
  { metadata, settled }: SettledAs,
): Promise<void> {
  // Without a known end, its outcome is unknown.
  const state = settled === undefined ? 'unknown' : 'done';
  await updateCall(thread, call, { attempt: null });
  // The action of a call that waited for an approval may be open, though the end of the wait has made the call
  // scheduled.
  if (call.state !== 'scheduled' || call.waits > 0)
    await closeStarted(thread, call, { ...result, uncertain: state === 'unknown' });
  const owner = await readOwner(thread, call.step);
  await storeResult(thread, call, { result, state, metadata, settled }, owner);
}

/** Stores the result of a call whose own code has terminated the thread, in place of the one that it was settled with. */
export async function replaceOwnEnd(
  thread: ThreadTransaction,
  call: CallRow,
  { result, message: { metadata = {}, attachments } = {} }: Pick<CommitTool, 'result' | 'message'>,
): Promise<boolean> {
  if (thread.row.terminated_at === null || call.state !== 'done') return false;
  await updateCall(thread, call, { attempt: null, status: result?.status });
  if (!result) return true;
  const replaced = await thread.trx
    .updateTable('messages')
    .set({
      content: toolContent(result),
      tool_status: result.status,
      metadata: JSON.stringify(metadata),
      attachments: attachments?.length ? JSON.stringify(attachments) : undefined,
    })
    .where('thread_id', '=', thread.threadId)
    .where('step', '=', call.step)
    .where('role', '=', 'tool')
    .where('tool_call_id', '=', call.call_id)
    .returning(['id', 'created_at'])
    .executeTakeFirst();
  if (!replaced) return true;
  await forgetMessage(thread, replaced, 'edited');
  thread.emit('message.updated', { messageId: replaced.id, role: 'tool' }, { step: call.step });
  return true;
}

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
  // Uncertain from now on, and so is what its body was invoking.
  await closeStarted(thread, call, { status: 'error', error: UNKNOWN_OUTCOME, uncertain: true });
  const { executionId } = await readOwner(thread, step);
  const command: OpenWait = {
    id: randomUUID(),
    threadId: thread.threadId,
    key: reconcileKey(call),
    kind: 'reconcile',
    name,
    summary: `"${name}" was running when its worker was lost: did it take effect?`,
    data: showUncertain(action, { ...call, arguments: await readArguments(thread, call) }),
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
