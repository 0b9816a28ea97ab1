/** Reads: a thread, messages with their pending ones, events. */
import { type InferResult, type Kysely, sql, type Transaction } from 'kysely';
import type { GetMessagesOptions, MessagePage } from '../../core/author/thread-message.ts';
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import type { Message, SubagentFields } from '../../core/message/message.ts';
import { spawnGroupOf } from '../../core/project/subagent.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { parseRecord } from '../../core/value/record.ts';
import { toPendingMessage } from '../schema/item-row.ts';
import { readEvent, toCount, toMessage, toThreadRecord } from '../schema/rows.ts';
import type { Tables } from '../schema/tables.ts';
import type { ThreadRecord } from '../thread/thread-record.ts';
import { type CommandContext, inSnapshot } from './context.ts';
import { findRow, readInBatches, selectRows } from './rows.ts';
import { statement } from './statement.ts';

export async function getThread({ db }: CommandContext, threadId: string): Promise<ThreadRecord | null> {
  const row = await findRow(db, 'threads', { id: threadId });
  if (!row) return null;
  const { output: id } = row;
  const answer =
    id === null ? undefined : await findRow(db, 'messages', { thread_id: threadId, id }, ['content']);
  // Somebody may have edited the message.
  const output = parseRecord(answer?.content ?? '');
  return { ...toThreadRecord(row), ...(output && { output }) };
}

/**
 * A page of the thread's messages: stored ones, then pending ones, which are newer by definition; oldest first by
 * default.
 */
export async function getMessages(
  context: CommandContext,
  threadId: string,
  options: GetMessagesOptions = {},
): Promise<MessagePage> {
  const { order = 'asc', includeSilent = false, maxDepth = 0, superseded = false } = options;
  const [limit, offset] = [toCount(options.limit, 100), toCount(options.offset, 0)];
  const read = superseded ? readSuperseded : readHistory;
  return inSnapshot(context, async (db) => {
    const { found, total } = await read(db, threadId, { includeSilent, maxDepth, limit, offset });
    const newestFirst = await joinSubagents(db, threadId, found);
    return {
      messages: order === 'desc' ? newestFirst : newestFirst.toReversed(),
      total,
      hasMore: offset + newestFirst.length < total,
    };
  });
}

type AskedPage = Required<Pick<GetMessagesOptions, 'includeSilent' | 'maxDepth' | 'limit' | 'offset'>>;

/** The only reading of messages that were superseded; newest first. */
async function readSuperseded(
  db: Transaction<Tables>,
  threadId: string,
  { includeSilent, maxDepth, limit, offset }: AskedPage,
) {
  let gone = selectRows(db, 'superseded_messages', { thread_id: threadId }).where('depth', '<=', maxDepth);
  if (!includeSilent) gone = gone.where('silent', '=', 0);
  const { total } = await gone.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await gone.selectAll().orderBy('created_at', 'desc').limit(limit).offset(offset).execute();
  return { found: rows.map((row): Message => ({ ...toMessage(row), status: 'superseded' })), total };
}

/** Newest first. */
async function readHistory(
  db: Transaction<Tables>,
  threadId: string,
  { includeSilent, maxDepth, limit, offset }: AskedPage,
) {
  let stored = db.selectFrom('messages').where('thread_id', '=', threadId).where('depth', '<=', maxDepth);
  if (!includeSilent) stored = stored.where('silent', '=', 0);
  const pendingRows = await selectRows(db, 'items', { thread_id: threadId, state: 'queued' })
    .selectAll()
    .orderBy('position', 'desc')
    .execute();
  const pending = pendingRows.map(toPendingMessage).filter((message) => includeSilent || !message.silent);
  const total = (await countShown(db, threadId, { includeSilent, maxDepth })) + pending.length;
  const fromPending = pending.slice(offset, offset + limit);
  const rows = await stored
    .selectAll()
    .orderBy('created_at', 'desc')
    .limit(limit - fromPending.length)
    .offset(Math.max(0, offset - pending.length))
    .execute();
  return { found: [...fromPending, ...rows.map(toMessage)], total };
}

/** Counts all messages of the thread, less the hidden ones: those are few, so a long history is not scanned. */
async function countShown(
  db: Transaction<Tables>,
  threadId: string,
  { includeSilent, maxDepth }: Pick<AskedPage, 'includeSilent' | 'maxDepth'>,
): Promise<number> {
  const row = await db
    .selectFrom('threads')
    .select((eb) => [
      'message_count',
      eb
        .selectFrom('messages')
        .select((count) => count.fn.countAll<number>().as('count'))
        .where('messages.thread_id', '=', threadId)
        // Repeats the condition of the partial index word for word; otherwise the index is not used.
        .where(sql<boolean>`(silent = 1 or depth > 0)`)
        .where((hidden) =>
          includeSilent
            ? hidden('depth', '>', maxDepth)
            : hidden.or([hidden('silent', '=', 1), hidden('depth', '>', maxDepth)]),
        )
        .as('hidden'),
    ])
    .where('id', '=', threadId)
    .executeTakeFirst();
  return row ? row.message_count - (row.hidden ?? 0) : 0;
}

/**
 * The newest stored messages of depth 0, including silent ones, oldest first: as many as a tool may be shown. Read
 * without a snapshot and without a count: the fields of subagents are those of the moment of the read.
 */
export async function getRecentMessages({ db }: CommandContext, threadId: string): Promise<Message[]> {
  return toRecent(db, threadId, await selectRecent(db, threadId, LIMITS.recentMessages).execute());
}

export const selectRecent = statement((db, threadId: string, limit: number) =>
  selectRows(db, 'messages', { thread_id: threadId, depth: 0 })
    .selectAll()
    .orderBy('created_at', 'desc')
    .limit(limit),
);

/** Returns the messages oldest first. */
export async function toRecent(
  db: Kysely<Tables>,
  threadId: string,
  rows: Readonly<InferResult<ReturnType<typeof selectRecent>>>,
): Promise<Message[]> {
  return joinSubagents(db, threadId, rows.map(toMessage).toReversed());
}

/** A stored or pending message; null if there is none. */
export async function getMessage(
  context: CommandContext,
  threadId: string,
  id: string,
): Promise<Message | null> {
  return inSnapshot(context, async (db) => {
    const found = await readMessage(db, threadId, id);
    const [message = null] = found ? await joinSubagents(db, threadId, [found]) : [];
    return message;
  });
}

async function readMessage(db: Transaction<Tables>, threadId: string, id: string): Promise<Message | null> {
  const row = await findRow(db, 'messages', { thread_id: threadId, id });
  if (row) return toMessage(row);
  const pending = await findRow(db, 'items', { thread_id: threadId, id, state: 'queued' });
  return pending ? toPendingMessage(pending) : null;
}

/** Events after a number, oldest first; default limit 1000. Empty for an unknown thread. */
export async function readEvents(
  { db }: CommandContext,
  threadId: string,
  after: number,
  limit = 1000,
): Promise<ThreadEvent[]> {
  const rows = await db
    .selectFrom('events')
    .selectAll()
    .where('thread_id', '=', threadId)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(toCount(limit, 1000))
    .execute();
  return rows.map(readEvent);
}

/**
 * The fields of a message about its subagent (definitions §15.1): joined from the parent's registry when the message is
 * read, so that names and statuses are current. The metadata's `subagent_id` identifies the subagent.
 */
async function joinSubagents(db: Kysely<Tables>, threadId: string, messages: Message[]): Promise<Message[]> {
  const ids = [...new Set(messages.flatMap(({ metadata: { subagent_id: id } }) => (isId(id) ? [id] : [])))];
  // Most threads have no children, and need no query.
  if (ids.length === 0) return messages;
  const children = await readInBatches(ids, (batch) =>
    selectRows(db, 'children', { parent_id: threadId, child_id: batch }).selectAll().execute(),
  );
  const fields = new Map<unknown, SubagentFields>(
    children.map((child) => [
      child.child_id,
      {
        subagent_id: child.child_id,
        subagent_name: child.agent,
        subagent_title: child.title,
        subagent_description: child.description,
        subagent_status: child.status,
        subagent_resumable: child.resumable === 1,
        subagent_blocking: child.blocking === 1,
        subagent_thread_name: child.name,
        subagent_spawn_group_id: spawnGroupOf(child.parent_id, child.made_step),
      },
    ]),
  );
  return messages.map((message) => ({ ...message, ...fields.get(message.metadata.subagent_id) }));
}

const isId = (value: unknown): value is string => typeof value === 'string';

/** Selects the threads of a thread's family, itself included. */
export function selectFamily(db: Kysely<Tables>, threadId: string) {
  const root = selectRows(db, 'threads', { id: threadId }).select('root_id');
  return db.selectFrom('threads').where('root_id', 'in', root);
}
