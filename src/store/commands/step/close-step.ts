/**
 * Ends a step: committed with its answer, or failed with its reason (runtime §3.4).
 * C1. Only an open step can be ended; whoever comes second finds what the first one stored.
 * C2. A sub-prompt's step is a matter of the call that it answers. It leaves alone what belongs to the thread: input that waits
 *     for an answer, the thread's last error, the text streamed before.
 */
import { randomUUID } from 'node:crypto';
import type { ToolCall } from '../../../core/message.ts';
import { roleOf } from '../../../core/session.ts';
import type { StoredError } from '../../../core/step.ts';
import type { CommitStep, CommittedStep, StepRecord, StepRef } from '../../port/thread-store.ts';
import { type CommandContext, inThread } from '../base/context.ts';
import { readSubpromptPlace } from '../base/step-place.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import { describeStep, hasMoreInput } from './begin-step.ts';
import { type ScheduledCall, scheduleCalls } from './schedule-calls.ts';
import { keepScratch } from './scratch.ts';
import { findCall } from './tool-result.ts';

async function stepState(thread: ThreadTransaction, step: number) {
  return thread.trx
    .selectFrom('steps')
    .select([
      'kind',
      'side',
      'state',
      'attempt',
      'execution_id',
      'first_seq',
      'directive',
      'parent_step',
      'parent_idx',
    ])
    .where('thread_id', '=', thread.threadId)
    .where('step', '=', step)
    .executeTakeFirstOrThrow();
}

export async function commitStep(context: CommandContext, command: CommitStep): Promise<CommittedStep> {
  return inThread(context, command.threadId, async (thread) => {
    if (thread.row.terminated_at !== null) return { kind: 'terminated' };
    await thread.admit(command.runId);
    const { step, attempt } = command;
    const opened = await stepState(thread, step);
    const { kind, side, state, execution_id: executionId, first_seq: firstSeq } = opened;
    if (state === 'committed') return { kind: 'stored', record: await describeStep(thread, step) };
    if (state !== 'open' || !(await isWanted(thread, opened))) return { kind: 'closed' };
    const subprompt = kind === 'prompt' ? await readSubpromptPlace(thread.trx, thread.threadId, step) : null;
    // Hooks of what the step drained have asked before those of its answer; the last word holds.
    const directive = command.directive ?? opened.directive ?? undefined;
    const messageId = command.messageId ?? randomUUID();
    await thread.insertMessage({
      id: messageId,
      // C2: a sub-prompt has a conversation of its own.
      role: subprompt ? 'assistant' : roleOf(side),
      content: command.content,
      toolCalls: command.toolCalls,
      metadata: command.metadata,
      silent: command.silent,
      attachments: command.attachments,
      reasoning: command.reasoning,
      prompt: command.prompt,
      parentId: subprompt?.parentId,
      depth: subprompt?.depth,
      executionId,
      step,
    });
    await keepScratch(thread, executionId, command.context);
    await thread.trx
      .updateTable('steps')
      .set({
        state: 'committed',
        message_id: messageId,
        model: command.model,
        text: hasText(command.content) ? 1 : 0,
        directive: directive ?? null,
        closed_at: thread.now,
      })
      .where('thread_id', '=', thread.threadId)
      .where('step', '=', step)
      .execute();
    const { model, finishReason, usage } = command;
    const depth = subprompt ? { depth: subprompt.depth } : {};
    thread.emit('step.committed', { messageId, model, finishReason, usage, ...depth }, { step, attempt });
    await scheduleCalls(thread, step, command.toolCalls.map(toScheduledCall), subprompt?.depth);
    // C2.
    if (!subprompt) {
      thread.set({ answer_due: 0 });
      await pruneChunks(thread, step, firstSeq);
    }
    return { kind: 'stored', record: await describeCommitted(thread, { ...command, directive }, opened) };
  });
}

type StepState = Awaited<ReturnType<typeof stepState>>;

/** An execution that ended has settled the call: what its sub-prompt says now is nobody's, and its calls would never run. */
async function isWanted(thread: ThreadTransaction, row: StepState): Promise<boolean> {
  const { parent_step: step, parent_idx: index } = row;
  if (step === null || index === null) return true;
  const { state } = await findCall(thread, { step, index });
  return state === 'scheduled' || state === 'started';
}

function toScheduledCall({ id, function: { name, arguments: text } }: ToolCall): ScheduledCall {
  return { callId: id, name, arguments: text, origin: 'model' };
}

/** As describeStep would find it, without asking for what was just written. */
async function describeCommitted(
  thread: ThreadTransaction,
  { step, model, content, toolCalls, directive }: CommitStep,
  { kind, side }: Pick<StepRecord, 'kind' | 'side'>,
): Promise<StepRecord> {
  return {
    step,
    kind,
    side,
    text: hasText(content),
    model,
    calls: toolCalls.map((call) => call.function.name),
    moreInput: kind !== 'prompt' && (await hasMoreInput(thread, step)),
    ...(directive ? { directive } : {}),
  };
}

function hasText(content: string | null): boolean {
  return content !== null && content.trim().length > 0;
}

/** Streamed text of the model step before this one has been read by whoever watched; its message stays. */
async function pruneChunks(thread: ThreadTransaction, step: number, firstSeq: number): Promise<void> {
  await thread.trx
    .deleteFrom('events')
    .where('thread_id', '=', thread.threadId)
    .where('seq', '>', (query) =>
      query
        .selectFrom('steps')
        .select('first_seq')
        .where('thread_id', '=', thread.threadId)
        .where('step', '<', step)
        .where('kind', '=', 'model')
        .orderBy('step', 'desc')
        .limit(1),
    )
    .where('seq', '<=', firstSeq)
    .where('type', '=', 'model.chunk')
    .execute();
}

export async function failStep(
  context: CommandContext,
  command: StepRef & { readonly error: StoredError },
): Promise<CommittedStep> {
  return inThread(context, command.threadId, async (thread) => {
    if (thread.row.terminated_at !== null) return { kind: 'terminated' };
    await thread.admit(command.runId);
    const { step, attempt, error } = command;
    const { kind, state, attempt: current } = await stepState(thread, step);
    if (state === 'committed') return { kind: 'stored', record: await describeStep(thread, step) };
    // A worker that was taken for lost may not fail what another one is trying; its answer would be welcome.
    if (state !== 'open' || current !== attempt) return { kind: 'closed' };
    await thread.trx
      .updateTable('steps')
      .set({ state: 'failed', closed_at: thread.now })
      .where('thread_id', '=', thread.threadId)
      .where('step', '=', step)
      .execute();
    // C2.
    if (kind !== 'prompt') thread.set({ last_error: JSON.stringify(error) });
    thread.emit('step.failed', { ...error }, { step, attempt });
    return { kind: 'closed' };
  });
}
