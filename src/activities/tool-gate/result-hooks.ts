/**
 * Stages from the answer of a call to the row that is stored of it (definitions §12.4).
 * - Secrets are removed from whatever hooks put into the result or its message before it is stored.
 * - A call that a hook removed ends without a result (null): no more hooks, no message, no files.
 *
 * What a call of a session tool means to the session (definitions §7.1, §12.4; runtime §8.2, §8.3): an argument
 * replaces its result, files are handed over with it, and a status is sent to the parent.
 * - The binding applies to the acting side's tools, in the thread's own steps: a sub-prompt ends no session.
 * - The binding is applied before the result is stored, and before hooks see it for the last time. Missing files turn
 *   the result into an error, so the session goes on (definitions §12.5).
 */

import { randomUUID } from 'node:crypto';
import { createNotes } from '../../author/guard/code-note.ts';
import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import { go, type Verdict } from '../../author/policy/gate.ts';
import { storeAttachments } from '../../author/state/attachments.ts';
import { createIds } from '../../author/state/id.ts';
import { checkStoredArguments } from '../../author/tool/check-schema.ts';
import { storeResultFiles } from '../../author/tool/result-files.ts';
import type { SessionToolBinding } from '../../core/author/definition.ts';
import type { Registry } from '../../core/author/registry.ts';
import {
  fillMessage,
  type ToolCall,
  type ToolResult,
  toChanges,
  toolContent,
} from '../../core/message/message.ts';
import { parseArguments } from '../../core/message/tool-call.ts';
import { findActiveSide } from '../../core/project/active-side.ts';
import { cutMiddle } from '../../core/value/cut-middle.ts';
import { isRuntimeError, isStoreFault } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { definedFields } from '../../core/value/record.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { CommitTool } from '../../store/tool/tool-record.ts';
import { type FlowChanges, watchFlow } from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { toToolCall } from './before-call.ts';
import type { CallAnswer, ToolResultKey } from './call-info.ts';
import { argumentOf, toPaths, toText } from './prompt-input.ts';
import type { ToolExecution, ToolFrame } from './tool-frame.ts';

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

/** What the body leaves in its scratch never changes the result (author/tool/scratch.ts, S4). */
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

/** Redacted before it is stored. If no hook has seen the result, there is nothing new to redact. */
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
  const { error_code, error_data, output } = stored;
  const told = definedFields({ error_code, error_data, output });
  const metadata = { ...answer.metadata, ...told, ...sink.notifications() };
  const message = { metadata: Object.keys(metadata).length > 0 ? metadata : undefined, attachments };
  return go({ row: { result: stored, message } });
}

/**
 * Stage: the model called with other arguments than those that a person has approved, so its tool message says which
 * ones were used.
 */
export async function showChangedArguments(
  { registry }: Pick<ActivityDependencies, 'registry'>,
  { execution, env, row }: AnsweredFrame & ResultRow,
): Promise<Verdict<ResultRow, never>> {
  const { result, message } = row;
  const { changed } = execution.call;
  if (!result || !changed) return go({ row });
  const who = changed.by === undefined ? '' : ` by ${changed.by}`;
  const used = JSON.stringify(await argumentsOf(registry(), execution));
  const note = `Approved with changes${who}: called with ${cutMiddle(used, MAX_SHOWN)} in place of ${cutMiddle(changed.from, MAX_SHOWN)}.`;
  const content = await redactText(env, `${toolContent(result)}\n\n${note}`);
  return go({ row: { result, message: { ...message, content } } });
}

/** Characters of arguments in that note. */
const MAX_SHOWN = 2000;

/** Runs `before_create_message` on the tool message. */
export async function beforeCreateMessage(
  _ports: unknown,
  { execution, hooks, env, row }: AnsweredFrame & ResultRow,
) {
  const { result } = row;
  if (!result || !hooks.has('before_create_message', 'after_create_message')) return go();
  const { call, subprompt } = execution;
  const content = row.message?.content ?? toolContent(result);
  const { attachments } = row.message ?? {};
  const after = await hooks.beforeRow(
    fillMessage({
      id: call.messageId ?? randomUUID(),
      role: 'tool',
      ...row.message,
      content,
      name: call.name,
      tool_call_id: call.callId,
      tool_status: result.status,
      attachments: attachments?.length ? attachments : null,
      parent_id: subprompt?.parentId,
      depth: subprompt?.depth,
    }),
  );
  const { content: shown, ...changes } = toChanges(after);
  const changed = shown === toolContent(result) ? {} : { content: await redactText(env, shown) };
  return go({ row: { result, message: { id: after.id, ...changes, ...changed } } });
}

function toCall({ execution }: ToolFrame): ToolCall {
  return toToolCall(execution.call);
}

/** Redacted before it is stored. */
async function redactText(env: ToolFrame['env'], text: string | null): Promise<string | null> {
  if (text === null) return null;
  const { result = '' } = await env.redact({ status: 'success', result: text });
  return result;
}

/** Returns the result as it is stored. */
export async function bindToSession(
  { store, registry, probe }: ActivityDependencies,
  execution: ToolExecution,
  result: ToolResult,
): Promise<ToolResult> {
  const bound = findBinding(registry(), execution);
  if (!bound || result.status !== 'success') return result;
  const args = await argumentsOf(registry(), execution);
  const text = toText(argumentOf(args, bound.messageProperty));
  if (bound.ends) {
    const shownResult = text === undefined ? result : { ...result, result: text };
    return withFiles(store, execution, shownResult, argumentOf(args, bound.attachmentsProperty));
  }
  const { thread, signal } = execution;
  const status = (text ?? result.result ?? '').trim().slice(0, LIMITS.childStatusChars);
  if (thread.parentId !== null && status !== '') {
    await retryWhileUnavailable(signal, () => store.children.setStatus(thread.id, status));
    await probe?.('subagent_status_told');
  }
  return result;
}

/** The acting side's tools alone. */
function findBinding(
  registry: Registry,
  { thread, side, subprompt, call }: ToolExecution,
): (SessionToolBinding & { readonly ends: boolean }) | undefined {
  if (subprompt) return undefined;
  const acting = findActiveSide(registry, thread.agent, side)?.side;
  const ending = [acting?.sessionFail, acting?.sessionStop].find((each) => each?.name === call.name);
  if (ending) return { ...ending, ends: true };
  const { sessionStatus } = acting ?? {};
  return sessionStatus?.name === call.name ? { ...sessionStatus, ends: false } : undefined;
}

/** The arguments with defaults applied, if they fit the schema of a tool; otherwise as given. */
async function argumentsOf(
  registry: Registry,
  { call }: ToolExecution,
): Promise<Readonly<Record<string, unknown>>> {
  const given = parseArguments(call.arguments) ?? {};
  const checked = await checkStoredArguments(registry.tools.get(call.name)?.args, given);
  return checked.ok ? checked.value : given;
}

async function withFiles(
  store: ThreadStore,
  { thread, step, index, signal }: ToolExecution,
  result: ToolResult,
  named: unknown,
): Promise<ToolResult> {
  if (named === undefined) return result;
  const place = {
    store,
    threadId: thread.id,
    nextId: createIds(store, `${thread.id}:${step}:${index}:bound`),
  };
  try {
    const paths = toPaths(named);
    const files = await retryWhileUnavailable(signal, () => storeAttachments(place, paths));
    return { ...result, attachments: [...(result.attachments ?? []), ...files] };
  } catch (error) {
    if (!isRuntimeError(error) || isStoreFault(error)) throw error;
    return {
      status: 'error',
      error: `The session continues, because its files could not be handed over: ${error.message}`,
    };
  }
}
