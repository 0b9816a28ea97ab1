/**
 * Opens a thread for a workflow run: the first run creates its row, every run is admitted (the fence), and gets the
 * state of the store, so that a revived thread goes on where the killed run was.
 *
 * Tags of a thread. The whole list is replaced, so a repeated command changes nothing.
 */

import type { Transaction } from 'kysely';
import { RuntimeError } from '../../core/value/error.ts';
import { openChild } from '../family/child.ts';
import { hasUnstarted } from '../family/family-tree.ts';
import { hasDueReport } from '../family/report.ts';
import { countPending } from '../message/queue.ts';
import { toThreadRecord } from '../schema/rows.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inRun, inThread, unknownThread } from '../transaction/context.ts';
import { insertRoot, toThreadRow } from '../transaction/new-thread.ts';
import { findRow } from '../transaction/rows.ts';
import { OPEN_CALL } from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { OpenedThread, OpenThread, ThreadRecord } from './thread-record.ts';

/**
 * Opens the thread for a run, from then on the only one that may write (the fence). Its first run creates the thread.
 * The same run again changes nothing. Rejects with `StoreMismatch` if the thread must exist and does not.
 */
export async function openThread(context: CommandContext, command: OpenThread): Promise<OpenedThread> {
  const { threadId } = command;
  const known = await findRow(context.db, 'threads', { id: threadId }, ['id']);
  if (!known) await createThread(context, command);
  return inRun(context, command, async (thread) => {
    const { row } = thread;
    const turnOpen = row.turn_open === 1;
    return {
      kind: 'open',
      thread: toThreadRecord(row),
      afterStep: turnOpen ? await findLastOver(thread) : row.last_step,
      turnOpen,
      waiting: await countPending(thread),
      isChild: await openChild(thread),
      reportDue: await hasDueReport(thread),
      unstarted: await hasUnstarted(thread),
    };
  });
}

/**
 * Later steps are asked for again: an open turn's last step may be unfinished, and so may steps with unsettled calls.
 */
async function findLastOver(thread: ThreadTransaction): Promise<number> {
  const unsettled = await thread
    .select('tool_calls')
    .select('step')
    .where('state', 'in', OPEN_CALL)
    .orderBy('step')
    .executeTakeFirst();
  // A sub-prompt's step is found by the step whose call it answers (begin-step.ts, B4).
  const own = await thread
    .select('steps')
    .select('step')
    .where('kind', '!=', 'prompt')
    .orderBy('step', 'desc')
    .limit(1)
    .executeTakeFirst();
  const last = own?.step ?? 0;
  return Math.max(0, Math.min(last, unsettled?.step ?? last) - 1);
}

async function createThread(context: CommandContext, command: OpenThread): Promise<void> {
  const { threadId, runId } = command;
  if (command.mustExist) {
    throw new RuntimeError(
      'StoreMismatch',
      `Thread "${threadId}" has run before, but is not in store ${context.storeId}. ` +
        'This worker uses a different store than the thread: set EVERTHREAD_STORE to the right one.',
    );
  }
  const now = context.now();
  await context.db.transaction().execute(async (trx) => {
    const first = { runId, type: 'thread.created', data: { agent: command.agent } } as const;
    if (await insertRoot(context, trx, toThreadRow(command, now), first))
      await insertTags(trx, threadId, now, command.tags ?? []);
  });
}

/** Replaces all tags of the thread. Rejects with `ThreadNotFound`. */
export async function setTags(
  context: CommandContext,
  threadId: string,
  tags: readonly string[],
): Promise<ThreadRecord> {
  return inThread(context, threadId, async (thread) => {
    const { trx, row } = thread;
    if (row.deleted_at !== null) throw unknownThread(context.storeId, threadId);
    const before = row.tags === null ? [] : (JSON.parse(row.tags) as string[]);
    if (JSON.stringify(before) === JSON.stringify(tags)) return toThreadRecord(row);
    await thread.delete('thread_tags');
    await insertTags(trx, threadId, row.created_at, tags);
    thread.set({ tags: tags.length > 0 ? JSON.stringify(tags) : null });
    return toThreadRecord(thread.written);
  });
}

async function insertTags(
  trx: Transaction<Tables>,
  threadId: string,
  createdAt: number,
  tags: readonly string[],
): Promise<void> {
  if (tags.length === 0) return;
  await trx
    .insertInto('thread_tags')
    .values(tags.map((tag) => ({ thread_id: threadId, tag, created_at: createdAt })))
    .execute();
}
