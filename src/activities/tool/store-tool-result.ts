/**
 * From what a tool answered to what is stored of it (definitions §12.4): after_tool_call_* → what it means to the session →
 * before_store_tool_result → its files → before_create_message → one transaction → after_create_message.
 * R1. Nothing that a hook puts into the result or its message is stored before secrets are taken out of it.
 * R2. A call that a hook removed is over without a result: no more hooks, no message, no files.
 * R3. The result is stored whatever becomes of the run that asked for it; hooks behind it run where it was this attempt's.
 */
import { randomUUID } from 'node:crypto';
import { type AttachmentRef, type ToolCall, type ToolResult, toolContent } from '../../core/message.ts';
import type { ToolCallOutcome } from '../../core/step.ts';
import { authorPlace } from '../../state/author-fault.ts';
import type { DraftMessage } from '../../state/hooks/message-hook-port.ts';
import { storeResultFiles } from '../../state/result-files.ts';
import { retryWhileUnavailable } from '../../state/retry-while-unavailable.ts';
import type { ThreadStore } from '../../store/port/thread-store.ts';
import type { CommitTool, ToolCallKey } from '../../store/port/tool.ts';
import { type FlowChanges, queueTools, watchFlow } from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { applyBinding } from './session-binding.ts';
import type { ToolFrame } from './tool-frame.ts';

export interface ToolResultKey extends ToolCallKey {
  readonly attempt: string;
}

/** What is stored along with the result. */
interface StoredWith extends Pick<CommitTool, 'nextAgent' | 'nextInput'> {
  /** Of the tool message. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export async function storeToolResult(
  dependencies: ActivityDependencies,
  frame: ToolFrame,
  key: ToolResultKey,
  executed: ToolResult,
  { metadata = {}, ...more }: StoredWith = {},
): Promise<ToolCallOutcome> {
  const { store, probe } = dependencies;
  const { execution, scratch, sink, hooks } = frame;
  const { call, signal } = execution;
  const own = scratch.write();
  // A scratch that the tool has spoilt is the tool's error, and told to the model.
  const flow = watchFlow(hooks, scratch, { told: !own.ok });
  const left = await flow();
  const answered: ToolResult = own.ok ? executed : { status: 'error', error: own.error };
  const shaped = await throughHooks(dependencies, frame, answered);
  const row: ResultRow = shaped
    ? await toRow(store, frame, shaped, { ...metadata, ...sink.notifications() })
    : { result: null };
  // Hooks': the tool's own was settled with its result.
  await sink.settle().catch((error) => hooks.tell(null, error));
  const queuedTools = [...sink.taken().queuedTools];
  // What made an error of the result has taken the handoff back.
  const handoff = row.result?.status === 'success' ? more : {};
  const changes = { ...left, ...(await flow()) };
  const committed = await retryWhileUnavailable(signal, () =>
    store.commitTool({ ...key, ...handoff, ...row, queuedTools, ...changes }),
  );
  await probe?.('tool_committed');
  if (committed.kind === 'terminated') return committed;
  if (committed.kind === 'late') return { kind: 'unknown', name: call.name };
  const stored = { messageId: row.message?.id, queuedTools: queuedTools.length, flow };
  const queued = await retryWhileUnavailable(signal, () => tellStored(store, frame, key, stored));
  const { directive } = scratch.flow;
  return {
    kind: 'done',
    name: call.name.slice(0, 64),
    succeeded: row.result?.status === 'success',
    queued: committed.queued + sink.taken().queuedItems + queued,
    ...(directive ? { directive } : {}),
    ...toFailedAt(row.result),
  };
}

/** The stack itself stays in the store: history is small. */
function toFailedAt(result: ToolResult | null): { failedAt?: string } {
  const { status, stack } = result ?? {};
  const place = status === 'error' && stack !== undefined ? authorPlace(stack) : undefined;
  return place === undefined ? {} : { failedAt: place };
}

/** Null where a hook removed the call (R2). */
async function throughHooks(
  dependencies: ActivityDependencies,
  { hooks, env, execution }: ToolFrame,
  result: ToolResult,
): Promise<ToolResult | null> {
  if (!hooks.has('after_tool_call_success', 'after_tool_call_failure', 'before_store_tool_result'))
    return applyBinding(dependencies, execution, result);
  const { callId: id, name, arguments: text } = execution.call;
  const call: ToolCall = { id, type: 'function', function: { name, arguments: text } };
  const after = await hooks.afterToolCall(call, result);
  if (!after) return null;
  const bound = await applyBinding(dependencies, execution, after);
  // R1.
  return env.redact(await hooks.beforeStoreResult(call, bound));
}

type ResultRow = Pick<CommitTool, 'result' | 'attachments' | 'message'>;

async function toRow(
  store: ThreadStore,
  frame: ToolFrame,
  shaped: ToolResult,
  told: Readonly<Record<string, unknown>>,
): Promise<ResultRow> {
  const { execution, hooks, env } = frame;
  const { thread, step, index } = execution;
  const stored = await storeResultFiles(store, thread.id, `${step}:${index}`, shaped);
  const plain = Object.keys(told).length > 0 ? { ...stored, message: { metadata: told } } : stored;
  if (!hooks.has('before_create_message', 'after_create_message')) return plain;
  const { result } = stored;
  const draft = { ...toDraft(execution, result, stored.attachments), metadata: told };
  const { id, content, silent, metadata, attachments } = await hooks.beforeRow(draft, {
    toolStatus: result.status,
  });
  const changed = content === draft.content ? {} : { content: await redactText(env, content) };
  return { result, attachments: attachments ?? [], message: { id, silent, metadata, ...changed } };
}

function toDraft(
  { call, subprompt }: ToolFrame['execution'],
  result: ToolResult,
  attachments: readonly AttachmentRef[],
): DraftMessage {
  return {
    id: call.messageId ?? randomUUID(),
    role: 'tool',
    content: toolContent(result),
    name: call.name,
    tool_calls: null,
    tool_call_id: call.callId,
    parent_id: subprompt?.parentId ?? null,
    depth: subprompt?.depth ?? 0,
    silent: false,
    metadata: {},
    attachments: attachments.length > 0 ? attachments : null,
  };
}

/** R1. */
async function redactText(env: ToolFrame['env'], text: string | null): Promise<string | null> {
  if (text === null) return null;
  const { result = '' } = await env.redact({ status: 'success', result: text });
  return result;
}

/** Answers how many tools the hooks behind the message have queued. */
async function tellStored(
  store: ThreadStore,
  { execution: { thread }, hooks, sink }: ToolFrame,
  key: ToolResultKey,
  stored: { messageId?: string; queuedTools: number; flow: () => Promise<FlowChanges> },
): Promise<number> {
  if (stored.messageId === undefined || !hooks.has('after_create_message')) return 0;
  const message = await store.getMessage(thread.id, stored.messageId);
  if (message) await hooks.messages.afterCreate(message);
  const changes = await stored.flow();
  if (changes.directive !== undefined || changes.context !== undefined)
    await store.keepFlow({ ...key, ...changes });
  return queueTools(store, thread.id, sink, stored.queuedTools)();
}
