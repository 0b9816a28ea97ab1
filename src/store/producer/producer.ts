/**
 * Executions that code of one process produces (core/thread/producer.ts).
 * D2. There is only ever one producer: whoever claims (thread, execution) first holds it, even after that holder was
 *     lost. Another process may take it over if it says so, before the loss has ended the execution.
 * - A producer's lines are counted: one that is sent twice is stored once. They are stored only while their execution
 *   runs.
 * - A producer ends once: settled by its holder, or lost, whichever comes first.
 * - Usage that lines report counts in the budgets of the execution, with the lines; above a limit, the producer ends.
 *
 * The presence of a task's adapter that lives in a process: a producer with `task/` and the task's id as its thread and
 * its execution, held by the queue that the adapter works for.
 * - A task has one queue; another process that works for the same queue is the same holder.
 *
 * Ends what depended on a process that was lost: executions that its code produced, and tasks whose adapter it ran.
 * - Any worker may end a lost producer, and it ends once: if the process has renewed its presence since, it is not
 *   lost.
 * - A task ends here before its workflow does: it is `lost` until its workflow has been terminated too.
 */
import { type Payment, toPayment } from '../../core/governance/budget-amount.ts';
import {
  adapterLost,
  type Produced,
  type ProducedLine,
  producerLost,
  usageOf,
} from '../../core/thread/producer.ts';
import { isTaskThread, toTaskId } from '../../core/thread/task-start.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import { charge } from '../budget/spend.ts';
import { failTask } from '../task/task.ts';
import { type CommandContext, inThread } from '../transaction/context.ts';
import { hasRow, updateRow, updateRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { AppendProduced, ProducerPresence, ProducerRecord, ProducerRef } from './producer-record.ts';

/**
 * Claims an execution. True if this holder may produce it: the first one to claim it, permanently. The thread need
 * not exist yet.
 */
export async function claimProducer(
  context: CommandContext,
  { threadId, executionId, holder, presenceMs }: ProducerPresence,
): Promise<boolean> {
  await context.db
    .insertInto('producers')
    .values({
      thread_id: threadId,
      execution_id: executionId,
      holder,
      state: 'open',
      lines: 0,
      present_until: await presenceDeadline(context, presenceMs),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return hasRow(context.db, 'producers', { thread_id: threadId, execution_id: executionId, holder });
}

export async function findProducer(
  context: CommandContext,
  threadId: string,
  executionId: string,
): Promise<ProducerRecord | null> {
  const row = await context.db
    .selectFrom('producers')
    .leftJoin('threads', 'threads.id', 'producers.thread_id')
    .selectAll('producers')
    .select('threads.event_seq')
    .where('producers.thread_id', '=', threadId)
    .where('producers.execution_id', '=', executionId)
    .executeTakeFirst();
  if (!row) return null;
  const now = row.state === 'open' ? await context.clock(context.db) : 0;
  return {
    state: row.state,
    produced: row.produced === null ? null : JSON.parse(row.produced),
    overdue: row.state === 'open' && row.present_until < now,
    lastSeq: row.event_seq ?? 0,
  };
}

/**
 * Takes over what another process produces, once that has missed two of its three renewals: its lines are withdrawn.
 * True if this holder may produce it.
 */
export async function takeOverProducer(
  context: CommandContext,
  { threadId, executionId, holder, presenceMs }: ProducerPresence,
): Promise<boolean> {
  const now = await context.clock(context.db);
  const presence = presenceMs * 1000;
  return inThread(context, threadId, async (thread) => {
    const row = await findOpen(thread, executionId);
    if (!row || thread.row.terminated_at !== null) return false;
    if (row.holder === holder) return true;
    if (row.present_until >= now + presence / 3) return false;
    const taken = { holder, lines: 0, present_until: now + presence };
    await thread.update('producers', { execution_id: executionId }, taken);
    if (row.lines > 0)
      thread.emit('produced.line', { type: 'message.discarded', data: { reason: 'ProducerLost' } });
    return true;
  });
}

/** Renews the presence. False if it is no longer open, or has another holder. */
export async function renewProducer(
  context: CommandContext,
  { threadId, executionId, holder, presenceMs }: ProducerPresence,
): Promise<boolean> {
  const key = { thread_id: threadId, execution_id: executionId, holder, state: 'open' } as const;
  const present_until = await presenceDeadline(context, presenceMs);
  return updateRow(context.db, 'producers', key, { present_until });
}

/**
 * Writes lines to the log. False, with nothing written, if it is no longer open, has another holder, or its execution
 * does not run.
 */
export async function appendProduced(
  context: CommandContext,
  { threadId, executionId, holder, presenceMs, from, lines }: AppendProduced,
): Promise<boolean> {
  const until = await presenceDeadline(context, presenceMs);
  return inThread(context, threadId, async (thread) => {
    const row = await findOpen(thread, executionId);
    // Only while it runs. A gap would mean that a line is lost.
    if (row?.holder !== holder || row.lines < from || thread.row.terminated_at !== null) return false;
    if (!(await thread.has('executions', { id: executionId, ended_at: null }))) return false;
    const added = lines.slice(row.lines - from);
    for (const line of added) thread.emit('produced.line', line);
    const appended = { lines: Math.max(row.lines, from + lines.length), present_until: until };
    await thread.update('producers', { execution_id: executionId }, appended);
    // Budget rows are locked after all others.
    const error = await charge(context, thread, toSpending(added));
    if (error) await endProducer(thread, executionId, { ok: false, error });
    return true;
  });
}

function toSpending(lines: readonly ProducedLine[]): Payment {
  const { calls, promptTokens, completionTokens, cost = 0 } = usageOf(lines);
  return toPayment({
    maxLlmCalls: calls,
    familyCalls: calls,
    maxInputTokens: promptTokens,
    maxOutputTokens: completionTokens,
    maxCost: cost,
  });
}

/** Ends it, and logs that unless its thread is terminated. False if it has ended before: the first end counts. */
export async function settleProducer(
  context: CommandContext,
  { threadId, executionId, holder, produced }: ProducerRef & { readonly produced: Produced },
): Promise<boolean> {
  return inThread(context, threadId, async (thread) => {
    const row = await findOpen(thread, executionId);
    if (row?.holder !== holder) return false;
    await endProducer(thread, executionId, produced);
    return true;
  });
}

/** Emits no event if the execution or the thread has ended already. */
async function endProducer(
  thread: ThreadTransaction,
  executionId: string,
  produced: Produced,
): Promise<void> {
  const ended = { state: 'ended', produced: JSON.stringify(produced) } as const;
  await thread.update('producers', { execution_id: executionId }, ended);
  if (thread.row.terminated_at !== null) return;
  const execution = await thread.find('executions', { id: executionId }, ['ended_at']);
  // Not begun yet, or not over.
  if ((execution?.ended_at ?? null) !== null) return;
  thread.emit('produced.ended', { executionId, error: produced.ok ? undefined : produced.error });
}

function findOpen(thread: ThreadTransaction, executionId: string) {
  return thread.find('producers', { execution_id: executionId, state: 'open' });
}

async function presenceDeadline(context: CommandContext, presenceMs: number): Promise<number> {
  return (await context.clock(context.db)) + presenceMs * 1000;
}

/** Renews the presence for everything that this holder has open. Returns how many. */
export async function renewAll(
  context: CommandContext,
  { holder, presenceMs }: Pick<ProducerPresence, 'holder' | 'presenceMs'>,
): Promise<number> {
  const renewed = await context.db
    .updateTable('producers')
    .set({ present_until: await presenceDeadline(context, presenceMs) })
    .where('state', '=', 'open')
    .where('holder', '=', holder)
    .returning('thread_id')
    .execute();
  return renewed.length;
}

const MAX_ROWS = 100;

/** Ends those whose process was lost, and their tasks, with `ProducerLost`. Returns how many. */
export async function closeLostProducers(context: CommandContext): Promise<number> {
  const lost = await context.db
    .selectFrom('producers')
    .select(['thread_id', 'execution_id'])
    .where('state', '=', 'open')
    .where('present_until', '<', await context.clock(context.db))
    .limit(MAX_ROWS)
    .execute();
  let closed = 0;
  for (const { thread_id: threadId, execution_id: executionId } of lost)
    closed += await closeLost(context, threadId, executionId);
  return closed;
}

async function closeLost(context: CommandContext, threadId: string, executionId: string): Promise<number> {
  const ofTask = isTaskThread(threadId);
  try {
    return await inThread(context, threadId, async (thread) => {
      const row = await findOpen(thread, executionId);
      // The process may have renewed its presence since.
      if (!row || row.present_until >= (await context.clock(thread.trx))) return 0;
      if (!ofTask) await endProducer(thread, executionId, toLost(executionId));
      else {
        await failTask(context, thread, adapterLost(toTaskId(threadId)));
        await thread.update('producers', { execution_id: executionId }, { state: 'lost' });
      }
      return 1;
    });
  } catch (error) {
    if (!isRuntimeError(error, 'ThreadNotFound')) throw error;
    // Lost before its thread was created.
    await context.db
      .updateTable('producers')
      .set(ofTask ? { state: 'lost' } : { state: 'ended', produced: JSON.stringify(toLost(executionId)) })
      .where('thread_id', '=', threadId)
      .where('execution_id', '=', executionId)
      .where('state', '=', 'open')
      .where('present_until', '<', await context.clock(context.db))
      .execute();
    return 1;
  }
}

function toLost(executionId: string): Produced {
  return { ok: false, error: producerLost(executionId) };
}

/** Thread ids (`task/` plus the task's id) of `lost` tasks; 100 at most. */
export async function listLostTasks({ db }: CommandContext): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('producers')
    .select('thread_id')
    .where('state', '=', 'lost')
    .limit(MAX_ROWS)
    .execute();
  return rows.map(({ thread_id: threadId }) => threadId);
}

/** Ends a lost task's record, once its workflow has been terminated. */
export async function forgetLostTask({ db }: CommandContext, threadId: string): Promise<void> {
  await updateRows(db, 'producers', { thread_id: threadId, state: 'lost' }, { state: 'ended' });
}
