/**
 * Lists of threads.
 * - Every list is read from an index in the order in which it is returned, page by page, and a page costs its own
 *   length, however many threads there are (schema/migration-0001.ts). Rows that a further condition excludes are
 *   skipped.
 *
 * The first words of threads, for lists: one read, by the index of their messages.
 *
 * Figures of the whole store, for monitoring.
 * - The cost of a census is bounded, however many threads there are: it counts up to a limit, over indexes.
 */
import { type SelectQueryBuilder, sql } from 'kysely';
import type { ThreadStatus } from '../../core/thread/step.ts';
import { TASK_ID_PREFIX } from '../../core/thread/task-start.ts';
import { toCount, toThreadRecord } from '../schema/rows.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inSnapshot } from '../transaction/context.ts';
import type { ThreadRow } from '../transaction/thread-transaction.ts';
import type { Census, ListThreads, ThreadRecord } from './thread-record.ts';

type ThreadQuery = SelectQueryBuilder<Tables, 'threads', ThreadRow>;

/** Threads that fit the conditions. Deleted threads and tasks are left out. */
export async function listThreads(
  context: CommandContext,
  options: ListThreads = {},
): Promise<ThreadRecord[]> {
  const { tag, before, limit } = options;
  const [at, id] = orderOf(options);
  let found = where(select(context, tag), options);
  if (before) {
    const time = at === 'threads.updated_at' ? before.updatedAt : before.createdAt;
    // The first condition follows from the second: it bounds an index that has another column before the time.
    found = found
      .where(sql<boolean>`${sql.ref(at)} <= ${time}`)
      .where(sql<boolean>`(${sql.ref(at)}, ${sql.ref(id)}) < (${time}, ${before.id})`);
  }
  const rows = await found
    .orderBy(sql.ref(at), 'desc')
    .orderBy(sql.ref(id), 'desc')
    .limit(toCount(limit, 50))
    .execute();
  return rows.map(toThreadRecord);
}

/** The columns of the index with this order. */
function orderOf({ tag, order }: ListThreads): readonly [at: string, id: string] {
  if (tag !== undefined) return ['thread_tags.created_at', 'thread_tags.thread_id'];
  return [order === 'created' ? 'threads.created_at' : 'threads.updated_at', 'threads.id'];
}

function select({ db }: Pick<CommandContext, 'db'>, tag: string | undefined): ThreadQuery {
  if (tag === undefined) return db.selectFrom('threads').selectAll('threads');
  return db
    .selectFrom('thread_tags')
    .innerJoin('threads', 'threads.id', 'thread_tags.thread_id')
    .selectAll('threads')
    .where('thread_tags.tag', '=', tag) as unknown as ThreadQuery;
}

function where(query: ThreadQuery, options: ListThreads): ThreadQuery {
  const { status, agent, userId, organizationId, parentId, rootsOnly, idPrefix } = options;
  const { createdAfter, createdBefore, updatedAfter, updatedBefore } = options;
  // Tasks are listed separately.
  let found = query
    .where('threads.deleted_at', 'is', null)
    .where('threads.id', 'not like', `${TASK_ID_PREFIX}%`);
  if (status !== undefined) found = whereStatus(found, status);
  if (agent !== undefined) found = found.where('threads.agent', '=', agent);
  if (userId !== undefined) found = found.where('threads.user_id', '=', userId);
  if (organizationId !== undefined) found = found.where('threads.organization_id', '=', organizationId);
  if (parentId !== undefined) found = found.where('threads.parent_id', '=', parentId);
  if (rootsOnly) found = found.where('threads.parent_id', 'is', null);
  if (createdAfter !== undefined) found = found.where('threads.created_at', '>', createdAfter);
  if (createdBefore !== undefined) found = found.where('threads.created_at', '<', createdBefore);
  if (updatedAfter !== undefined) found = found.where('threads.updated_at', '>', updatedAfter);
  if (updatedBefore !== undefined) found = found.where('threads.updated_at', '<', updatedBefore);
  if (idPrefix !== undefined)
    found = found.where(sql<boolean>`substr(threads.id, 1, ${idPrefix.length}) = ${idPrefix}`);
  return found;
}

/** Repeats the condition of the partial index as literals: with bound values no engine can tell that it holds. */
function whereStatus(query: ThreadQuery, status: ThreadStatus): ThreadQuery {
  const found = query.where('threads.status', '=', status);
  if (status === 'idle' || status === 'terminated') return found;
  return found
    .where(sql<boolean>`threads.status <> 'idle'`)
    .where(sql<boolean>`threads.status <> 'terminated'`);
}

const MAX_CHARS = 200;

/**
 * The first 200 characters of each thread's first message of its user, by thread id. Threads without one have no
 * entry.
 */
export async function readFirstWords(
  { db }: CommandContext,
  threadIds: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  if (threadIds.length === 0) return {};
  const rows = await db
    .selectFrom('threads')
    .select('threads.id')
    .select((select) =>
      select
        .selectFrom('messages')
        .select(sql<string>`substr(content, 1, ${sql.lit(MAX_CHARS)})`.as('words'))
        .whereRef('messages.thread_id', '=', 'threads.id')
        .where('role', '=', 'user')
        .where('depth', '=', 0)
        .where('silent', '=', 0)
        .where('content', 'is not', null)
        .orderBy('messages.created_at')
        .limit(1)
        .as('words'),
    )
    .where('threads.id', 'in', threadIds)
    .execute();
  return Object.fromEntries(rows.flatMap(({ id, words }) => (words === null ? [] : [[id, words]])));
}

const STATUSES: readonly ThreadStatus[] = ['idle', 'running', 'waiting', 'stopped', 'failed', 'terminated'];
const MAX_COUNT = 10_000;
/** Most queued items that are examined: the first ones may be of threads that wait. */
const MAX_EXAMINED_ITEMS = 1000;

/** Has a bounded cost, however many threads there are. */
export async function takeCensus(context: CommandContext): Promise<Census> {
  return inSnapshot(context, async (db) => {
    const threads: [ThreadStatus, number][] = [];
    for (const status of STATUSES) {
      const some = db
        .selectFrom('threads')
        .select('id')
        // The expression of its index (schema/migration-0001.ts).
        .where(sql<boolean>`(status || '') = ${status}`)
        .where('deleted_at', 'is', null)
        .where('id', 'not like', `${TASK_ID_PREFIX}%`)
        .limit(MAX_COUNT);
      const { count } = await db
        .selectFrom(some.as('some'))
        .select((of) => of.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      threads.push([status, count]);
    }
    const front = db
      .selectFrom('items')
      .select(['thread_id', 'created_at'])
      .where(sql<boolean>`(state || '') = 'queued'`)
      // A limit may hold back what a thread's own code has queued, as long as nothing comes from outside.
      .where('own', '=', 0)
      .orderBy('created_at')
      .limit(MAX_EXAMINED_ITEMS);
    const oldest = await db
      .selectFrom(front.as('front'))
      .innerJoin('threads', 'threads.id', 'front.thread_id')
      .select('front.created_at')
      .where('threads.status', 'not in', ['waiting', 'terminated'])
      .orderBy('front.created_at')
      .limit(1)
      .executeTakeFirst();
    const waitingMs = oldest ? Math.max(0, context.now() - oldest.created_at) / 1000 : 0;
    return { threads: Object.fromEntries(threads) as Census['threads'], oldestItemMs: waitingMs };
  });
}
