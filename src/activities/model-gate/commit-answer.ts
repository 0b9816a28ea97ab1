/**
 * Stages that store a model's answer (runtime §3.4), through the hooks around a new message (definitions §9).
 * - Hooks before the answer run once per attempt of the step, outside the transaction. Hooks after it run once, after
 *   the commit: never, if the worker is lost in between.
 * - Tools that hooks queue before the commit are queued behind the answer, in its transaction. Tools of hooks after
 *   it follow those.
 * - An answer has been paid for. If the store is unreachable or full, the worker keeps it until it can be stored or
 *   another worker takes over.
 */

import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import { end, go } from '../../author/policy/gate.ts';
import type { RejectedAnswer } from '../../core/answer/typed-answer.ts';
import { answerIdOf } from '../../core/message/answer-id.ts';
import {
  type AttachmentRef,
  fillMessage,
  type Message,
  type ToolCall,
  toChanges,
} from '../../core/message/message.ts';
import type { ProviderUsage } from '../../core/message/provider.ts';
import type { ActiveSide } from '../../core/project/active-side.ts';
import { listParallel } from '../../core/project/parallel-call.ts';
import { roleOf } from '../../core/thread/session.ts';
import type { StepContext } from '../../store/step/step-place-record.ts';
import type { AnsweredCall, CommitStep, CommittedStep, StepRecord } from '../../store/step/step-record.ts';
import type { StepRef } from '../../store/transaction/from-run.ts';
import { queueTools, takeTools } from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import type { StepHooks } from './assemble.ts';

export interface StepAnswer {
  readonly content: string | null;
  readonly toolCalls: readonly ToolCall[];
  readonly repaired?: CommitStep['repaired'];
  readonly model: string;
  readonly finishReason: string;
  readonly usage: ProviderUsage;
  readonly reasoning?: string;
  /** As `sealParts` returns them. */
  readonly parts?: string;
  readonly prompt: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly attachments?: readonly AttachmentRef[];
  /** The call that returned the answer, if its end is not stored yet. */
  readonly call?: AnsweredCall;
  /**
   * `blocked`: a hook refused the request, and this is its message. `produced`: code of another process made the
   * answer.
   */
  readonly ends?: 'blocked' | 'produced';
}

/** A step with an answer that is not stored yet. */
export interface AnsweredStep extends StepHooks {
  readonly ref: StepRef;
  readonly active: ActiveSide;
  readonly answer: StepAnswer;
}

export interface HookedAnswer {
  /** The answer as hooks have seen and changed it; absent if there are no hooks around it. */
  readonly message?: Message;
}

/** What the type of the last answer makes of it (typed-answer.ts); empty if the answer has none. */
export interface CheckedAnswer {
  /** The JSON that is stored as the answer. */
  readonly typed?: string;
  readonly rejected?: RejectedAnswer;
}

/** Runs `before_create_message`. */
export async function beforeCreateAnswer(_ports: unknown, { ref, hooks, answer, context }: AnsweredStep) {
  if (!hooks.has('before_create_message', 'after_create_message')) return go({});
  return go({ message: await hooks.beforeRow(toMessage(ref, answer, context)) });
}

interface CommittedAnswer {
  readonly record: StepRecord;
  /** True if another attempt stored its answer first; that attempt runs the hooks. */
  readonly byOther: boolean;
  /** How many of the tools queued by hooks are stored with the answer. */
  readonly storedTools: number;
}

export type UncommittedStep = Exclude<CommittedStep, { kind: 'stored' }>;

/** Stores answer, calls, usage and events in one transaction. */
export async function commitAnswer(
  { store, registry, probe, handover, firstCall }: ActivityDependencies,
  {
    ref,
    active,
    answer: { ends, ...answer },
    message,
    typed,
    flow,
    hooks,
    sink,
  }: AnsweredStep & HookedAnswer & CheckedAnswer,
) {
  const [first] = answer.toolCalls;
  // Hooks after the answer come before its calls.
  const begins = first && !message && !hooks.ran ? firstCall?.offer(ref, first.function.name) : undefined;
  const queuedTools = await takeTools({ hooks, sink });
  const command = {
    ...ref,
    ...answer,
    ...(message && toChanges(message)),
    ...(typed !== undefined && { content: typed, typed: true as const }),
    parallel: listParallel(
      registry(),
      active.prompt,
      answer.toolCalls.map((call) => call.function.name),
    ),
    queuedTools,
    ...(await flow()),
    ...(ends ? { directive: ends } : {}),
    begins,
  };
  const committed = await retryWhileUnavailable(abortSignal(handover), () => store.steps.commit(command));
  await probe?.('model_committed');
  if (committed.kind !== 'stored') return end(committed);
  const { record, byOther = false, begun } = committed;
  if (firstCall) firstCall.begun = begun;
  return go({ record, byOther, storedTools: queuedTools.length });
}

/** Runs `after_create_message`, and stores what hooks have asked of the flow so far. */
export async function afterCreateAnswer(
  { store }: ActivityDependencies,
  {
    ref,
    answer,
    message,
    record,
    byOther,
    storedTools,
    hooks,
    sink,
    flow,
  }: AnsweredStep & HookedAnswer & CommittedAnswer,
) {
  if (!(hooks.ran || message)) return go({ record });
  const stored = message && !byOther && (await store.messages.get(ref.threadId, message.id));
  if (stored) await hooks.messages.afterCreate(stored);
  await queueTools(store, ref.threadId, sink, storedTools)();
  const later = answer.ends ? {} : await flow();
  await store.steps.saveFlow({ ...ref, ...later });
  return go({ record: { ...record, ...(later.directive && { directive: later.directive }) } });
}

function toMessage(
  { threadId, step }: StepRef,
  { content, toolCalls, metadata, attachments = [] }: StepAnswer,
  { side, subprompt }: StepContext,
): Message {
  return fillMessage({
    id: answerIdOf(threadId, step),
    role: subprompt ? 'assistant' : roleOf(side),
    tool_calls: toolCalls.length > 0 ? JSON.stringify(toolCalls) : null,
    parent_id: subprompt?.parentId,
    depth: subprompt?.depth,
    attachments: attachments.length > 0 ? attachments : null,
    content,
    metadata,
  });
}
