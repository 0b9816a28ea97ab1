/**
 * Summaries of the older part of a history: rows beside the messages, which stay as they are.
 * - A summary is unique for its side, prompt and last covered message, and logged once: a second one returns the
 *   first.
 * S2. Changing, removing or superseding a message retires each summary that covers it; one that covers less becomes the newest
 *     again. A summary is outdated, and not stored, if messages were changed or removed while it was made.
 * S3. A thread that has never had a summary needs no query.
 */
import type { Transaction } from 'kysely';
import type { Summary } from '../../core/context/summary.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inRunWith } from '../transaction/context.ts';
import { insertRows, selectRows } from '../transaction/rows.ts';
import { selectStep } from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { SavedSummary, SaveSummary, StepPlace, SummaryKey } from './step-place-record.ts';

/** The newest summary that applies to the step. */
export async function findSummary(
  db: Transaction<Tables>,
  { thread, side }: Pick<StepPlace, 'thread' | 'side'>,
  key: SummaryKey | undefined,
): Promise<Summary | undefined> {
  // S3: a thread without any.
  if (!key || !thread.compacted) return undefined;
  const row = await selectSummaries(db, { threadId: thread.id, side, ...key })
    .orderBy('until', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row;
}

function selectSummaries(
  db: Transaction<Tables>,
  { threadId, side, prompt, scope }: SummaryKey & { readonly threadId: string; readonly side: 'a' | 'b' },
) {
  return selectRows(db, 'summaries', { thread_id: threadId, side, prompt, scope }).select([
    'until',
    'messages',
    'text',
    'asked',
  ]);
}

/**
 * Stores a summary of the older part of the history, and logs it. The side, the prompt, the scope and the last
 * message covered are the key: a later caller receives what the first one stored.
 */
export async function saveSummary(context: CommandContext, command: SaveSummary): Promise<SavedSummary> {
  const { threadId, step, attempt } = command;
  return inRunWith(
    context,
    command,
    (trx) => [selectStep(trx, threadId, step)],
    async (thread, [[opened]]) => {
      thread.relax();
      if (opened?.state !== 'open' || opened.attempt !== attempt) return { kind: 'closed' };
      const { side } = opened;
      const known = await selectSummaries(thread.trx, { ...command, side })
        .where('until', '=', command.summary.until)
        .executeTakeFirst();
      if (known) return { kind: 'kept', summary: known };
      if (await wasEdited(thread, command.seen)) return { kind: 'outdated' };
      await insertSummary(thread, side, command);
      return { kind: 'kept', summary: command.summary };
    },
  );
}

/** S2: searches the part of the log that was written since the messages were read. */
async function wasEdited(thread: ThreadTransaction, seen: number): Promise<boolean> {
  const found = await thread
    .select('events')
    .select('seq')
    .where('seq', '>', seen)
    .where('type', 'in', ['message.updated', 'message.deleted', 'messages.superseded'])
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

async function insertSummary(
  thread: ThreadTransaction,
  side: 'a' | 'b',
  { step, attempt, prompt, scope, messageId, summary, ...told }: SaveSummary,
): Promise<void> {
  const { until, messages, text, asked } = summary;
  await insertRows(thread.trx, 'summaries', [
    {
      thread_id: thread.threadId,
      side,
      prompt,
      scope,
      until,
      message_id: messageId,
      messages,
      text,
      asked,
      step,
      created_at: thread.now,
    },
  ]);
  thread.set({ compacted: 1 });
  const { count, reason, size, limit, because } = told;
  const data = { prompt, messages: count, covered: messages, messageId, summary: text, reason, size, limit };
  const fallback = because && (true as const);
  thread.emit('context.compacted', { ...data, fallback, because }, { step, attempt });
}
