/**
 * Ends a step: committed with its answer, or failed with its reason (runtime §3.4).
 * C1. Only an open step can be ended; whoever comes second finds what the first one stored.
 */
import { randomUUID } from 'node:crypto';
import type { ToolCall } from '../../core/message.ts';
import type { StoredError } from '../../core/step.ts';
import type { CommitStep, CommittedStep, StepRecord, StepRef } from '../port.ts';
import type { ThreadTransaction } from '../thread-transaction.ts';
import { describeStep, hasMoreInput } from './begin-step.ts';
import { type CommandContext, inThread } from './context.ts';
import { type ScheduledCall, scheduleCalls } from './schedule-calls.ts';

async function stepState(thread: ThreadTransaction, step: number) {
  return thread.trx
    .selectFrom('steps')
    .select(['state', 'attempt', 'execution_id', 'first_seq'])
    .where('thread_id', '=', thread.threadId)
    .where('step', '=', step)
    .executeTakeFirstOrThrow();
}

export async function commitStep(context: CommandContext, command: CommitStep): Promise<CommittedStep> {
  return inThread(context, command.threadId, async (thread) => {
    if (thread.row.terminated_at !== null) return { kind: 'terminated' };
    await thread.admit(command.runId);
    const { step, attempt } = command;
    const { state, execution_id: executionId, first_seq: firstSeq } = await stepState(thread, step);
    if (state === 'committed') return { kind: 'stored', record: await describeStep(thread, step) };
    if (state !== 'open') return { kind: 'closed' };
    const messageId = randomUUID();
    await thread.insertMessage({
      id: messageId,
      role: 'assistant',
      content: command.content,
      toolCalls: command.toolCalls,
      metadata: command.metadata,
      executionId,
      step,
    });
    await thread.trx
      .updateTable('steps')
      .set({
        state: 'committed',
        message_id: messageId,
        model: command.model,
        text: hasText(command.content) ? 1 : 0,
        closed_at: thread.now,
      })
      .where('thread_id', '=', thread.threadId)
      .where('step', '=', step)
      .execute();
    thread.set({ answer_due: 0 });
    const { model, finishReason, usage } = command;
    thread.emit('step.committed', { messageId, model, finishReason, usage }, { step, attempt });
    await scheduleCalls(thread, step, command.toolCalls.map(toScheduledCall));
    await pruneChunks(thread, step, firstSeq);
    return { kind: 'stored', record: describeCommitted(thread, command) };
  });
}

function toScheduledCall({ id, function: { name, arguments: text } }: ToolCall): ScheduledCall {
  return { callId: id, name, arguments: text, origin: 'model' };
}

/** As describeStep would find it, without asking for what was just written. */
function describeCommitted(
  thread: ThreadTransaction,
  { step, model, content, toolCalls }: CommitStep,
): StepRecord {
  return {
    step,
    kind: 'model',
    text: hasText(content),
    model,
    calls: toolCalls.map((call) => call.function.name),
    moreInput: hasMoreInput(thread, step),
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
    const { state, attempt: current } = await stepState(thread, step);
    if (state === 'committed') return { kind: 'stored', record: await describeStep(thread, step) };
    // A worker that was taken for lost may not fail what another one is trying; its answer would be welcome.
    if (state !== 'open' || current !== attempt) return { kind: 'closed' };
    await thread.trx
      .updateTable('steps')
      .set({ state: 'failed', closed_at: thread.now })
      .where('thread_id', '=', thread.threadId)
      .where('step', '=', step)
      .execute();
    thread.set({ last_error: JSON.stringify(error) });
    thread.emit('step.failed', { ...error }, { step, attempt });
    return { kind: 'closed' };
  });
}
