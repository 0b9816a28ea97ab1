/**
 * Stages from the answer of a call to the row that is stored of it (definitions §12.4).
 * R1. Secrets are removed from whatever hooks put into the result or its message before it is stored.
 * R2. A call that a hook removed ends without a result (null): no more hooks, no message, no files.
 */
import { randomUUID } from 'node:crypto';
import { createNotes } from '../../author/guard/code-note.ts';
import { go, type Verdict } from '../../author/policy/gate.ts';
import { storeResultFiles } from '../../author/tool/result-files.ts';
import {
  fillMessage,
  type ToolCall,
  type ToolResult,
  toChanges,
  toolContent,
} from '../../core/message/message.ts';
import { definedFields } from '../../core/value/record.ts';
import type { CommitTool } from '../../store/tool/tool-record.ts';
import { type FlowChanges, watchFlow } from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { toToolCall } from './before-call.ts';
import type { CallAnswer, ToolResultKey } from './call-info.ts';
import { bindToSession } from './session-binding.ts';
import type { ToolFrame } from './tool-frame.ts';

/** An answered call that is not stored yet. */
export interface AnsweredFrame extends ToolFrame {
  readonly key: ToolResultKey;
  readonly answer: CallAnswer;
}

export interface ShapedResult {
  /** Null if a hook removed the call. */
  readonly result: ToolResult | null;
}

export interface OpenFlow extends ShapedResult {
  /** What hooks have asked of the flow since the previous call. */
  readonly flow: () => Promise<FlowChanges>;
  /** The changes of the flow that the body has made. */
  readonly left: FlowChanges;
}

/** What the body leaves in its scratch never changes the result (author/tool/scratch.ts, S1). */
export async function takeScratch(
  { store }: ActivityDependencies,
  { answer, scratch, env, execution: { thread, step, call } }: AnsweredFrame,
) {
  if (answer.directive) scratch.flow.directive = answer.directive;
  const note = createNotes({ store, env, threadId: thread.id, code: 'tool', name: call.name, step });
  const flow = watchFlow({ note }, scratch);
  const left = await flow();
  return go({ flow, left, result: answer.result });
}

/** Runs `after_tool_call_success` or `after_tool_call_failure`. */
export async function afterToolCall(_ports: unknown, call: AnsweredFrame & ShapedResult) {
  const { result, hooks } = call;
  if (!result || !hooks.has('after_tool_call_success', 'after_tool_call_failure')) return go({ result });
  return go({ result: await hooks.afterToolCall(toCall(call), result) });
}

/** Applies what a session tool's call means to the session. */
export async function applyBinding(
  ports: ActivityDependencies,
  { result, execution }: AnsweredFrame & ShapedResult,
) {
  return go({ result: result && (await bindToSession(ports, execution, result)) });
}

export async function beforeStoreResult(_ports: unknown, call: AnsweredFrame & ShapedResult) {
  const { result, hooks } = call;
  if (!result || !hooks.has('before_store_tool_result')) return go({ result });
  return go({ result: await hooks.beforeStoreResult(toCall(call), result) });
}

/** R1: redacted before it is stored. If no hook has seen the result, there is nothing new to redact. */
export async function redactResult(_ports: unknown, { result, hooks, env }: AnsweredFrame & ShapedResult) {
  const seen = hooks.has('after_tool_call_success', 'after_tool_call_failure', 'before_store_tool_result');
  return go({ result: result && seen ? await env.redact(result) : result });
}

export interface ResultRow {
  readonly row: Pick<CommitTool, 'result' | 'message'>;
}

/**
 * Stores the files of the result before the result itself; texts sent by `notifyParent` go into its message's metadata.
 */
export async function storeFiles(
  { store }: ActivityDependencies,
  { result, execution, answer, sink }: AnsweredFrame & ShapedResult,
): Promise<Verdict<ResultRow, never>> {
  if (!result) return go({ row: { result: null } });
  const { thread, step, index, call } = execution;
  const place = { threadId: thread.id, key: `${step}:${index}`, callId: call.callId };
  const { result: stored, attachments } = await storeResultFiles(store, place, result);
  const { error_code, error_data } = stored;
  const error = definedFields({ error_code, error_data });
  const metadata = { ...answer.metadata, ...error, ...sink.notifications() };
  const message = { ...(Object.keys(metadata).length > 0 ? { metadata } : {}), attachments };
  return go({ row: { result: stored, message } });
}

/** Runs `before_create_message` on the tool message. */
export async function beforeCreateMessage(
  _ports: unknown,
  { execution, hooks, env, row }: AnsweredFrame & ResultRow,
) {
  const { result } = row;
  if (!result || !hooks.has('before_create_message', 'after_create_message')) return go();
  const { call, subprompt } = execution;
  const content = toolContent(result);
  const { attachments } = row.message ?? {};
  const after = await hooks.beforeRow(
    fillMessage({
      ...{ id: call.messageId ?? randomUUID(), role: 'tool', content, ...row.message },
      ...{ name: call.name, tool_call_id: call.callId, tool_status: result.status },
      attachments: attachments?.length ? attachments : null,
      parent_id: subprompt?.parentId,
      depth: subprompt?.depth,
    }),
  );
  const { content: shown, ...changes } = toChanges(after);
  const changed = shown === content ? {} : { content: await redactText(env, shown) };
  return go({ row: { result, message: { id: after.id, ...changes, ...changed } } });
}

function toCall({ execution }: ToolFrame): ToolCall {
  return toToolCall(execution.call);
}

/** R1: redacted before it is stored. */
async function redactText(env: ToolFrame['env'], text: string | null): Promise<string | null> {
  if (text === null) return null;
  const { result = '' } = await env.redact({ status: 'success', result: text });
  return result;
}
