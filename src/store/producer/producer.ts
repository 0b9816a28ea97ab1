/**
 * Executions that code of one process produces (core/thread/producer.ts).
 * D1. There is only ever one producer: whoever claims (thread, execution) first holds it, even after that holder was
 *     lost.
 * D2. A producer's lines are counted: one that is sent twice is stored once. They are stored only while their execution
 *     runs.
 * D3. A producer ends once: settled by its holder, or lost, whichever comes first.
 * D4. Usage that lines report counts in the budgets of the execution, with the lines; above a limit, the producer ends.
 */
import type { Selectable } from 'kysely';
import { type Payment, toPayment } from '../../core/governance/budget-amount.ts';
import { type Produced, type ProducedLine, usageOf } from '../../core/thread/producer.ts';
import { charge } from '../budget/spend.ts';
import { type CommandContext, inThread } from '../transaction/context.ts';
import { updateRows } from '../transaction/row-statement.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { AppendProduced, ProducerPresence, ProducerRecord, ProducerRef } from './producer-record.ts';
import type { ProducerTable } from './producer-table.ts';

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
      ...{ thread_id: threadId, execution_id: executionId, holder },
      ...{ state: 'open', lines: 0, produced: null },
      present_until: await presenceDeadline(context, presenceMs),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await selectProducer(context.db, threadId, executionId).executeTakeFirstOrThrow();
  return row.holder === holder;
}

export async function findProducer(
  context: CommandContext,
  threadId: string,
  executionId: string,
): Promise<ProducerRecord | null> {
  const row = await selectProducer(context.db, threadId, executionId)
    .leftJoin('threads', 'threads.id', 'producers.thread_id')
    .select('threads.event_seq')
    .executeTakeFirst();
  if (!row) return null;
  const now = row.state === 'open' ? await context.clock(context.db) : 0;
  return {
    state: row.state,
    produced: row.produced === null ? null : (JSON.parse(row.produced) as Produced),
    overdue: row.state === 'open' && Number(row.present_until) < now,
    lastSeq: Number(row.event_seq ?? 0),
  };
}

/** Renews the presence. False if it is no longer open, or has another holder. */
export async function renewProducer(
  context: CommandContext,
  { threadId, executionId, holder, presenceMs }: ProducerPresence,
): Promise<boolean> {
  const renewed = await context.db
    .updateTable('producers')
    .set({ present_until: await presenceDeadline(context, presenceMs) })
    .where('thread_id', '=', threadId)
    .where('execution_id', '=', executionId)
    .where('holder', '=', holder)
    .where('state', '=', 'open')
    .returning('holder')
    .executeTakeFirst();
  return renewed !== undefined;
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
    const row = await selectOpen(thread, executionId);
    // D2: only while it runs. A gap would mean that a line is lost.
    if (row?.holder !== holder || row.lines < from || !(await isRunning(thread, executionId))) return false;
    const unheard = lines.slice(row.lines - from);
    for (const line of unheard) thread.emit('produced.line', line);
    await updateProducer(thread, executionId, {
      lines: Math.max(row.lines, from + lines.length),
      present_until: until,
    });
    // D4: budget rows are locked after all others.
    const error = await charge(context, thread, toSpending(unheard));
    if (error) await endProducer(thread, executionId, { ok: false, error });
    return true;
  });
}

function toSpending(lines: readonly ProducedLine[]): Payment {
  const { calls, promptTokens, completionTokens, cost = 0 } = usageOf(lines);
  return toPayment({
    ...{ maxLlmCalls: calls, familyCalls: calls },
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
    const row = await selectOpen(thread, executionId);
    if (row?.holder !== holder) return false;
    await endProducer(thread, executionId, produced);
    return true;
  });
}

/** D3. Emits no event if the execution or the thread has ended already. */
export async function endProducer(
  thread: ThreadTransaction,
  executionId: string,
  produced: Produced,
): Promise<void> {
  await updateProducer(thread, executionId, { state: 'ended', produced: JSON.stringify(produced) });
  if (thread.row.terminated_at !== null || (await hasEnded(thread, executionId))) return;
  thread.emit('produced.ended', { executionId, ...(produced.ok ? {} : { error: produced.error }) });
}

export function selectProducer(db: CommandContext['db'], threadId: string, executionId: string) {
  return db
    .selectFrom('producers')
    .selectAll('producers')
    .where('producers.thread_id', '=', threadId)
    .where('producers.execution_id', '=', executionId);
}

export async function selectOpen(
  { trx, threadId }: ThreadTransaction,
  executionId: string,
): Promise<Selectable<ProducerTable> | undefined> {
  return selectProducer(trx, threadId, executionId).where('state', '=', 'open').executeTakeFirst();
}

export async function updateProducer(
  { trx, threadId }: ThreadTransaction,
  executionId: string,
  changes: Partial<ProducerTable>,
): Promise<void> {
  await updateRows(trx, 'producers', { thread_id: threadId, execution_id: executionId }, changes);
}

async function isRunning(thread: ThreadTransaction, executionId: string): Promise<boolean> {
  if (thread.row.terminated_at !== null) return false;
  const row = await selectEnd(thread, executionId);
  return row?.ended_at === null;
}

async function hasEnded(thread: ThreadTransaction, executionId: string): Promise<boolean> {
  const row = await selectEnd(thread, executionId);
  return row !== undefined && row.ended_at !== null;
}

async function selectEnd({ trx, threadId }: ThreadTransaction, executionId: string) {
  return trx
    .selectFrom('executions')
    .select('ended_at')
    .where('thread_id', '=', threadId)
    .where('id', '=', executionId)
    .executeTakeFirst();
}

export async function presenceDeadline(context: CommandContext, presenceMs: number): Promise<number> {
  return (await context.clock(context.db)) + presenceMs * 1000;
}
