/**
 * Brings a thread to rest: idle, stopped, failed or terminated (runtime §6, §10), in one transaction with
 * everything that must be settled then.
 * R1. A thread does not rest while the store holds items that nobody took, unless it was stopped.
 * R2. A stopped or terminated step keeps what it had streamed. However an execution ends, it leaves no call
 *     without a result: a later run must not take an old call for one that is still to be made.
 */
import { randomUUID } from 'node:crypto';
import type { CommitStatusInput, CommitStatusOutcome } from '../../core/step.ts';
import type { ThreadTransaction } from '../thread-transaction.ts';
import { findEffect, keepEffect } from './command-key.ts';
import { type CommandContext, inThread } from './context.ts';
import { countPending, emitRejections } from './queue.ts';
import { settleOpenCalls } from './tool.ts';

export async function commitStatus(
  context: CommandContext,
  command: CommitStatusInput & { readonly runId: string },
): Promise<CommitStatusOutcome> {
  return inThread(context, command.threadId, async (thread) => {
    if (thread.row.terminated_at !== null) return { kind: 'terminated' };
    await thread.admit(command.runId);
    await reportRejections(thread, command);
    const waiting = await countPending(thread);
    const { status } = command;
    const mayRest = command.park === true || status === 'stopped' || status === 'terminated';
    const pending = !mayRest && (waiting > 0 || command.more === true);
    if (status === 'stopped' || status === 'terminated') await abortStep(thread, status);
    await settleOpenCalls(thread, status);
    await endExecution(thread, command);
    const step = thread.row.last_step;
    if (pending) return { kind: 'pending', waiting, step };
    await settle(thread, command);
    if (status === 'terminated') {
      thread.set({ terminated_at: thread.now });
      thread.emit('thread.terminated', { reason: command.reason ?? null });
    }
    return { kind: 'rest', waiting, step };
  });
}

/** The same commit again, its answer having been lost, tells of no refusal twice. */
async function reportRejections(
  thread: ThreadTransaction,
  { runId, ordinal, rejections }: CommitStatusInput & { readonly runId: string },
): Promise<void> {
  if (ordinal !== undefined) {
    if (await findEffect(thread, { runId, ordinal })) return;
    await keepEffect(thread, { runId, ordinal }, { step: null, swept: 0 });
  }
  emitRejections(thread, rejections);
}

async function abortStep(thread: ThreadTransaction, status: 'stopped' | 'terminated'): Promise<void> {
  const open = await thread.trx
    .selectFrom('steps')
    .select(['step', 'attempt', 'execution_id', 'first_seq'])
    .where('thread_id', '=', thread.threadId)
    .where('state', '=', 'open')
    .execute();
  for (const { step, attempt, execution_id: executionId, first_seq: firstSeq } of open) {
    const text = await streamedText(thread, step, attempt, firstSeq);
    if (text.length > 0) {
      await thread.insertMessage({
        id: randomUUID(),
        role: 'assistant',
        content: text,
        metadata: { stopped: true },
        executionId,
        step,
      });
    }
    await thread.trx
      .updateTable('steps')
      .set({ state: 'stopped', closed_at: thread.now })
      .where('thread_id', '=', thread.threadId)
      .where('step', '=', step)
      .execute();
    thread.emit('execution.aborted', { status, keptText: text.length > 0 }, { step, attempt });
  }
}

/** What the stopped step's last attempt had streamed; the log has it, whatever became of the worker. */
async function streamedText(
  thread: ThreadTransaction,
  step: number,
  attempt: number,
  firstSeq: number,
): Promise<string> {
  const chunks = await thread.trx
    .selectFrom('events')
    .select('data')
    .where('thread_id', '=', thread.threadId)
    .where('seq', '>', firstSeq)
    .where('type', '=', 'model.chunk')
    .where('step', '=', step)
    .where('attempt', '=', attempt)
    .orderBy('seq')
    .execute();
  const parsed = chunks.map(({ data }) => JSON.parse(data) as { delta: string; call: number });
  const lastCall = parsed.at(-1)?.call;
  return parsed
    .filter(({ call }) => call === lastCall)
    .map(({ delta }) => delta)
    .join('');
}

/** The turn is over, whatever comes next: its input is history now, answered along with the next. */
async function endExecution(thread: ThreadTransaction, { status, reason }: CommitStatusInput): Promise<void> {
  const ended = await thread.trx
    .updateTable('executions')
    .set({ ended_at: thread.now, stop_reason: reason ?? status })
    .where('thread_id', '=', thread.threadId)
    .where('ended_at', 'is', null)
    .returning('id')
    .execute();
  for (const { id } of ended) thread.emit('execution.ended', { executionId: id, reason: reason ?? status });
  thread.set({ turn_open: 0, answer_due: 0 });
}

async function settle(
  thread: ThreadTransaction,
  { status, reason, error }: CommitStatusInput,
): Promise<void> {
  const changed = thread.row.status !== status;
  thread.set({ status, stop_reason: reason ?? null, last_error: error ? JSON.stringify(error) : null });
  if (changed) thread.emit('thread.status', { status, reason: reason ?? null, ...(error ? { error } : {}) });
}
