/**
 * Stages: the transaction that stores the outcome of a call, and the hooks after it (definitions §12.4).
 * - The result is stored even if the run that asked for it has been replaced. Hooks after it run only if this attempt
 *   stored it.
 */

import { authorPlace } from '../../author/guard/author-fault.ts';
import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import { end, go } from '../../author/policy/gate.ts';
import type { Registry } from '../../core/author/registry.ts';
import { toFatalError } from '../../core/governance/agent-policy.ts';
import { findGuards } from '../../core/guard/guards.ts';
import type { ToolResult } from '../../core/message/message.ts';
import type { StoredError, ToolCallOutcome } from '../../core/thread/step.ts';
import type { DecidedAction } from '../../store/action/action-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import { queueTools, takeTools } from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import type { ToolResultKey } from './call-info.ts';
import { judgesCalls } from './judge-call.ts';
import type { AnsweredFrame, OpenFlow, ResultRow } from './result-hooks.ts';
import type { ToolExecution } from './tool-frame.ts';

export type FinishedCall = AnsweredFrame & OpenFlow & ResultRow;

export interface Committed {
  /** How many items and tools the transaction has queued. */
  readonly queued: number;
  /** How many of the queued tools the transaction has stored. */
  readonly storedTools: number;
  /** The error with which the execution ends. */
  readonly denied?: StoredError;
  /** Messages of calls whose end had waited for this one's. */
  readonly released?: readonly string[];
}

/**
 * Stores everything that the call leaves in one transaction: its result, its message, the flow, tools that it queued, a
 * handoff.
 */
export async function commitResult(
  { store, registry, probe }: ActivityDependencies,
  { key, answer, row, left, flow, sink, hooks, execution, prompt }: FinishedCall,
) {
  const {
    call,
    signal,
    thread: { agent },
  } = execution;
  // The work that the body queued was settled with its result; this is the work of the hooks.
  const queuedTools = await takeTools({ hooks, sink });
  // If the result has become an error, there is no handoff.
  const handoff = row.result?.status === 'success' ? answer.handoff : {};
  const unbegun = execution.pending?.begun === false;
  const action = unbegun ? toFatal(registry(), execution, answer.action) : undefined;
  const denial = unbegun ? { unbegun, action } : {};
  const refused = answer.refused ? { refused: answer.refused } : {};
  const { loops } = findGuards(registry().agents.get(agent), prompt);
  const watched = loops && !answer.refused ? { loops } : {};
  // Another worker, whose agent has a policy, may have asked for the call's approval or begun it.
  const elsewhere = execution.waits !== undefined || execution.attempt === undefined;
  const judged = elsewhere || judgesCalls({ registry })(agent, execution.runContext, call.name);
  const changes = { ...left, ...(await flow()) };
  const committed = await retryWhileUnavailable(signal, () =>
    store.toolCalls.commit({
      ...key,
      ...handoff,
      ...row,
      ...denial,
      ...refused,
      ...watched,
      ...changes,
      judged,
      queuedTools,
    }),
  );
  await probe?.('tool_committed');
  if (committed.kind === 'terminated') return end(committed);
  if (committed.kind === 'late') return end({ kind: 'unknown', name: call.name });
  const refusal = action?.denied;
  const denied = refusal?.fatal ? toFatalError(call.name, refusal) : committed.denied;
  const { queued, released } = committed;
  return go({ queued, storedTools: queuedTools.length, denied, released });
}

/** Marks a denial as `fatal` if the agent's policy ends the execution on it (`onDenied: 'fail'`). */
function toFatal(
  registry: Registry,
  { thread }: ToolExecution,
  action: DecidedAction | undefined,
): DecidedAction | undefined {
  const fails = registry.agents.get(thread.agent)?.policy?.onDenied === 'fail';
  return fails && action?.denied ? { ...action, denied: { ...action.denied, fatal: true } } : action;
}

/** Runs `after_create_message` on the stored tool message. Returns the outcome that the workflow receives. */
export async function afterCreateMessage(
  ports: ActivityDependencies,
  call: FinishedCall & Committed,
): Promise<ToolCallOutcome> {
  const { row, execution, scratch, sink } = call;
  const queued = await retryWhileUnavailable(execution.signal, () => runAfterCreate(ports, call));
  const { directive } = scratch.flow;
  const name = execution.call.name.slice(0, 64);
  if (call.denied) return { kind: 'exceeded', name, error: call.denied };
  return {
    kind: 'done',
    name,
    succeeded: row.result?.status === 'success',
    queued: call.queued + sink.taken().queuedItems + queued,
    directive,
    failedAt: toFailedAt(row.result),
  };
}

/** Returns how many tools the hooks have queued. */
async function runAfterCreate(
  { store }: ActivityDependencies,
  {
    execution: { thread },
    hooks,
    sink,
    key,
    row,
    flow,
    storedTools,
    released = [],
  }: FinishedCall & Committed,
): Promise<number> {
  const own = row.message?.id;
  if (own === undefined || !hooks.has('after_create_message')) return 0;
  // Its own is not there yet if a call before it is open: the attempt whose commit stores it runs the hooks.
  for (const messageId of [own, ...released]) {
    const message = await store.messages.get(thread.id, messageId);
    if (message) await hooks.messages.afterCreate(message);
  }
  const changes = await flow();
  await store.steps.saveFlow({ ...key, ...changes });
  return queueTools(store, thread.id, sink, storedTools)();
}

/** The stack itself stays in the store, since history must stay small. */
function toFailedAt(result: ToolResult | null): string | undefined {
  const { status, stack } = result ?? {};
  return status === 'error' && stack !== undefined ? authorPlace(stack) : undefined;
}

/**
 * Ends a call with an error code, outside the gate: the call has taken its worker process down three times, or its
 * answer cannot be stored. The result is an error that the model reads. No hook sees it: a hook may be the cause.
 */
export async function giveUpCall(
  store: ThreadStore,
  key: ToolResultKey,
  name: string,
  { code, message }: StoredError,
): Promise<ToolCallOutcome> {
  const result = { status: 'error', error: `${code}: ${message}` } as const;
  const committed = await retryWhileUnavailable(abortSignal(), () =>
    store.toolCalls.commit({
      ...key,
      result,
      message: { metadata: { errorCode: code } },
      judged: true,
      queuedTools: [],
    }),
  );
  if (committed.kind === 'terminated') return committed;
  if (committed.kind === 'late') return { kind: 'unknown', name };
  return { kind: 'done', name: name.slice(0, 64), succeeded: false, queued: 0 };
}
