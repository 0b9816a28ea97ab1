/**
 * Deletes what a thread has: its messages, log, files, values, variables, calls, waits, budgets, and its row's own
 * content.
 * - Only a terminated thread is deleted: nothing writes to it any more, even if a worker is busy with it (store.ts, P3).
 * - Rows are removed in small transactions while the thread can be read as terminated; the last one makes it
 *   unreadable. If the process dies in between, the thread can be deleted again.
 * - The row keeps the thread's id and that it is terminated: a late workflow run gets that as its answer, and the id
 *   is never used again. The log keeps its end, so that its readers end as well.
 */

import { setImmediate as breathe } from 'node:timers/promises';
import { sql } from 'kysely';
import { RuntimeError } from '../../core/value/error.ts';
import { releaseContent } from '../file/blob.ts';
import { removeGrantsOf } from '../grant/grant.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inThread } from '../transaction/context.ts';
import { deleteRow, deleteRows } from '../transaction/rows.ts';

/** Rows of a table that one transaction removes at most. */
const BATCH = 500;

/**
 * Tables with rows of a thread, and the column with the thread's id. Every table with a `thread_id` is here, except
 * `threads` itself.
 */
export const THREAD_TABLES = {
  items: 'thread_id',
  sent_contents: 'thread_id',
  messages: 'thread_id',
  superseded_messages: 'thread_id',
  superseded_parts: 'thread_id',
  executions: 'thread_id',
  execution_claims: 'thread_id',
  steps: 'thread_id',
  command_keys: 'thread_id',
  tool_calls: 'thread_id',
  model_calls: 'thread_id',
  request_texts: 'thread_id',
  events: 'thread_id',
  effects: 'thread_id',
  author_strikes: 'thread_id',
  thread_values: 'thread_id',
  thread_files: 'thread_id',
  thread_tags: 'thread_id',
  thread_runs: 'thread_id',
  summaries: 'thread_id',
  mcp_lists: 'thread_id',
  memory_notes: 'thread_id',
  a2a_tasks: 'thread_id',
  actions: 'thread_id',
  waits: 'thread_id',
  shown_waits: 'thread_id',
  budgets: 'thread_id',
  budget_reservations: 'thread_id',
  budget_payments: 'thread_id',
  children: 'parent_id',
  child_reports: 'child_id',
  variable_requests: 'parent_id',
  producers: 'thread_id',
  tasks: 'thread_id',
  task_steps: 'thread_id',
  traces: 'thread_id',
} as const satisfies Partial<Record<keyof Tables, string>>;

type ThreadTableName = keyof typeof THREAD_TABLES;

/**
 * Deletes the content of a terminated thread; `get` then returns a record with `deletedAt`. Runs in several
 * transactions, of which the last one decides. Rejects with `ThreadBusy` while the thread has not ended, and with
 * `ThreadNotFound`.
 */
export async function removeThread(context: CommandContext, threadId: string): Promise<void> {
  const gone = await inThread(context, threadId, async ({ row }) => {
    if (row.terminated_at !== null) return row.deleted_at !== null;
    throw new RuntimeError(
      'ThreadBusy',
      `Thread "${threadId}" has not ended: terminate it first, then delete it.`,
    );
  });
  if (gone) return;
  // Each batch is a separate transaction.
  while (await removeFiles(context, threadId)) await breathe();
  for (const table of Object.keys(THREAD_TABLES) as ThreadTableName[])
    while (await removeRows(context, table, threadId)) await breathe();
  await inThread(context, threadId, async (thread) => {
    const { rowLocks } = context;
    // A late tool result may have been stored in the meantime. From here on its call is unknown.
    for (const table of Object.keys(THREAD_TABLES) as ThreadTableName[])
      while (await removeRows({ db: thread.trx, rowLocks }, table, threadId));
    await deleteRows(thread.trx, 'env_values', { scope: 'thread', owner: threadId });
    await removeGrantsOf(thread.trx, threadId);
    // The reason in the end of the log is a user's text.
    await thread.update('events', {}, { data: '{"reason":null}' });
    thread.set({
      deleted_at: thread.now,
      user_id: null,
      organization_id: null,
      arguments: '{}',
      name: null,
      tags: null,
      stop_reason: null,
      last_error: null,
      run_context: null,
      loop_warnings: null,
      model_counts: null,
      requests: null,
      forked_from: null,
      budget: null,
      message_count: 0,
      open_steps: 0,
      counted_a: 0,
      counted_b: 0,
      open_waits: 0,
      unseen_since: null,
      child_count: 0,
      cost_pico: 0n,
      input_tokens: 0,
      output_tokens: 0,
      waiting_since: null,
      waiting_for: null,
      first_words: null,
      last_words: null,
      output: null,
    });
  });
}

/** Contents are shared: each file gives up its own name of one. True while there may be more. */
async function removeFiles({ db }: CommandContext, threadId: string): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const rows = await trx
      .selectFrom('thread_files')
      .select(['path', 'blob_id'])
      .where('thread_id', '=', threadId)
      .orderBy('path')
      .limit(BATCH / 10)
      .execute();
    for (const { path, blob_id: content } of rows) {
      // If another deletion has removed the row concurrently, it has released the content.
      if (await deleteRow(trx, 'thread_files', { thread_id: threadId, path }))
        await releaseContent(trx, content);
    }
    return rows.length > 0;
  });
}

/** True while there may be more. */
async function removeRows(
  { db, rowLocks }: Pick<CommandContext, 'db' | 'rowLocks'>,
  table: ThreadTableName,
  threadId: string,
): Promise<boolean> {
  const row = sql.raw(rowLocks ? 'ctid' : 'rowid');
  // The end of the log stays.
  const kept = table === 'events' ? sql`AND type <> 'thread.terminated'` : sql``;
  const { rows } = await sql`
    DELETE FROM ${sql.table(table)} WHERE ${row} IN (
      SELECT ${row} FROM ${sql.table(table)} WHERE ${sql.ref(THREAD_TABLES[table])} = ${threadId} ${kept} LIMIT ${sql.lit(BATCH)}
    ) RETURNING 1 AS gone
  `.execute(db);
  return rows.length === BATCH;
}
