/**
 * Stores what a model said (runtime §3.4), through the hooks around a new message (definitions §9).
 * S1. Hooks before it run once for each attempt of the step, outside the transaction. Those after it run once, behind it: where
 *     the worker is lost in between, never.
 * S2. Tools that hooks queue are in line behind the answer.
 * S3. An answer was paid for: where the store is away or full, it is kept until it can be stored, or another worker takes over.
 */
import { randomUUID } from 'node:crypto';
import type { ToolCall } from '../../core/message.ts';
import type { ProviderUsage } from '../../core/provider.ts';
import { roleOf } from '../../core/session.ts';
import type { DraftMessage } from '../../state/hooks/message-hook-port.ts';
import { retryWhileUnavailable } from '../../state/retry-while-unavailable.ts';
import type { CommittedStep, StepContext, StepRecord, StepRef } from '../../store/port/step.ts';
import { queueTools } from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import type { StepHooks } from './step-hooks.ts';

export interface StepAnswer {
  readonly content: string | null;
  readonly toolCalls: readonly ToolCall[];
  readonly model: string;
  readonly finishReason: string;
  readonly usage: ProviderUsage;
  readonly reasoning?: string;
  readonly prompt: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** A hook refused the request: this is what it said. */
  readonly blocked?: true;
}

export async function storeAnswer(
  { store, probe, handover }: ActivityDependencies,
  { hooks, sink, flow, context }: StepHooks,
  ref: StepRef,
  { blocked, ...answer }: StepAnswer,
): Promise<CommittedStep> {
  const watched = hooks.has('before_create_message', 'after_create_message');
  const draft = watched ? await hooks.beforeRow(toDraft(answer, context)) : undefined;
  const changes = await flow();
  const command = {
    ...ref,
    ...answer,
    ...(draft && toFields(draft)),
    ...changes,
    ...(blocked ? { directive: 'blocked' as const } : {}),
  };
  const committed = await retryWhileUnavailable(abortSignal(handover), () => store.commitStep(command));
  await probe?.('model_committed');
  if (committed.kind !== 'stored' || !(hooks.ran || draft)) return committed;
  const queue = queueTools(store, ref.threadId, sink);
  await queue();
  const stored = draft && (await store.getMessage(ref.threadId, draft.id));
  // Another attempt may have been first, with a message of its own.
  if (stored) await hooks.messages.afterCreate(stored);
  await queue();
  const later = blocked ? {} : await flow();
  if (later.directive !== undefined || later.context !== undefined)
    await store.keepFlow({ ...ref, ...later });
  const record: StepRecord = { ...committed.record, ...(later.directive && { directive: later.directive }) };
  return { kind: 'stored', record };
}

function toDraft(
  { content, toolCalls, metadata = {} }: Omit<StepAnswer, 'blocked'>,
  { side, subprompt }: StepContext,
): DraftMessage {
  return {
    id: randomUUID(),
    role: subprompt ? 'assistant' : roleOf(side),
    content,
    name: null,
    tool_calls: toolCalls.length > 0 ? JSON.stringify(toolCalls) : null,
    tool_call_id: null,
    parent_id: subprompt?.parentId ?? null,
    depth: subprompt?.depth ?? 0,
    silent: false,
    metadata,
    attachments: null,
  };
}

function toFields({ id, content, silent, metadata, attachments }: DraftMessage) {
  return { messageId: id, content, silent, metadata, attachments: attachments ?? [] };
}
