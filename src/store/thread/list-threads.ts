/**
 * Lists of threads.
 * - Every list is read from an index in the order in which it is returned, page by page, and a page costs its own
 *   length, however many threads there are (schema/migration-0001.ts). Rows that a further condition excludes are
 *   skipped.
 *
 * Figures of the whole store, for monitoring.
 * - The cost of a census is bounded, however many threads there are: it counts up to a limit, over indexes.
 */
import { type SelectQueryBuilder, sql } from 'kysely';
import type { ThreadSort } from '../../core/author/read-options.ts';
import type { ThreadStatus } from '../../core/thread/step.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { toPico } from '../../core/value/money.ts';
import { toCount, toThreadRecord } from '../schema/rows.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inSnapshot } from '../transaction/context.ts';
import type { ThreadRow } from '../transaction/thread-transaction.ts';
import type { Census, ListThreads, ThreadFilters, ThreadPlace, ThreadRecord } from './thread-record.ts';

type ThreadQuery = SelectQueryBuilder<Tables, 'threads', ThreadRow>;

/** Threads that fit the conditions. Deleted threads and tasks are left out. Rejects with `InvalidValue` for a tag in another order. */
export async function listThreads(
  context: CommandContext,
  options: ListThreads = {},
): Promise<ThreadRecord[]> {
  const { tag, before, limit } = options;
  const { at, id, direction, has, placeOf } = orderOf(options);
  const [column, key] = [sql.ref(at), sql.ref(id)];
  let found = where(select(context, tag), options);
  if (has) found = found.where(sql<boolean>`${column} ${sql.raw(has)}`);
  if (before) {
    const place = placeOf(before);
    const [reaches, passes] = direction === 'desc' ? [sql`<=`, sql`<`] : [sql`>=`, sql`>`];
    // The first condition follows from the second: it bounds an index that has another column before the time.
    found = found
      .where(sql<boolean>`${column} ${reaches} ${place}`)
      .where(sql<boolean>`(${column}, ${key}) ${passes} (${place}, ${before.id})`);
  }
  const rows = await found
    .orderBy(column, direction)
    .orderBy(key, direction)
    .limit(toCount(limit, 50))
    .execute();
  return rows.map(toThreadRecord);
}

/** An order in which an index has threads: by one column, and by the id where that is the same. */
interface ThreadOrder {
  readonly at: string;
  readonly id: string;
  readonly direction: 'asc' | 'desc';
  /** The condition of the index, which must be in the query as a literal. */
  readonly has?: string;
  /** Where a thread stands in the column. */
  readonly placeOf: (thread: ThreadPlace) => number | bigint;
}

const newestFirst = { id: 'threads.id', direction: 'desc' } as const;

const ORDERS: Readonly<Record<ThreadSort, ThreadOrder>> = {
  updated: { ...newestFirst, at: 'threads.updated_at', placeOf: ({ updatedAt }) => updatedAt },
  created: { ...newestFirst, at: 'threads.created_at', placeOf: ({ createdAt }) => createdAt },
  cost: {
    ...newestFirst,
    at: 'threads.listed_cost',
    has: '> 0',
    placeOf: ({ listed }) => toPico(listed?.costUsd ?? 0),
  },
  tokens: {
    ...newestFirst,
    at: 'threads.listed_tokens',
    has: '> 0',
    placeOf: ({ listed }) => listed?.tokens ?? 0,
  },
  waiting: {
    id: 'threads.id',
    direction: 'asc',
    at: 'threads.waiting_since',
    has: 'is not null',
    placeOf: ({ waitingFor }) => waitingFor?.since ?? 0,
  },
};

function orderOf({ tag, sort }: ListThreads): ThreadOrder {
  if (tag === undefined) return ORDERS[sort ?? 'updated'];
  if (sort !== undefined && sort !== 'created')
    throw new RuntimeError(
      'InvalidValue',
      `Threads with a tag are listed by creation time, not by "${sort}": leave the order or the tag out.`,
    );
  return { ...ORDERS.created, at: 'thread_tags.created_at', id: 'thread_tags.thread_id' };
}

function select({ db }: Pick<CommandContext, 'db'>, tag: string | undefined): ThreadQuery {
  if (tag === undefined) return db.selectFrom('threads').selectAll('threads');
  return db
    .selectFrom('thread_tags')
    .innerJoin('threads', 'threads.id', 'thread_tags.thread_id')
    .selectAll('threads')
    .where('thread_tags.tag', '=', tag) as unknown as ThreadQuery;
}

/** Tasks are listed separately. As literals, which are the conditions of indexes (schema/migration-0001.ts). */
export const LISTED = sql<boolean>`threads.deleted_at is null and substr(threads.id, 1, 5) <> 'task/'`;

function where(query: ThreadQuery, options: ThreadFilters): ThreadQuery {
  const found = whereFiltered(query, options).where(LISTED);
  return options.status === undefined ? found : whereStatus(found, options.status);
}

/** The filters by columns of the thread's row, except its status. */
export function whereFiltered<Shown>(
  query: SelectQueryBuilder<Tables, 'threads', Shown>,
  options: Omit<ThreadFilters, 'status' | 'tag'>,
): SelectQueryBuilder<Tables, 'threads', Shown> {
  const { agent, userId, organizationId, parentId, rootsOnly, idPrefix } = options;
  const { createdAfter, createdBefore, updatedAfter, updatedBefore } = options;
  let found = query;
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

const STATUSES: readonly ThreadStatus[] = ['idle', 'running', 'waiting', 'stopped', 'failed', 'terminated'];
const MAX_COUNT = 10_000;
/** Most queued items that are examined: the first ones may be of threads that wait. And most waiting threads: the first ones may wait for models. */
const MAX_EXAMINED = 1000;

/** Has a bounded cost, however many threads there are. */
export async function takeCensus(context: CommandContext): Promise<Census> {
  return inSnapshot(context, async (db) => {
    const threads: [ThreadStatus, number][] = [];
    for (const status of STATUSES) {
      const some = db
        .selectFrom('threads')
        .select(sql`1`.as('one'))
        // The expression of its index (schema/migration-0001.ts).
        .where(sql<boolean>`(status || '') = ${status}`)
        .where(LISTED)
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
      .limit(MAX_EXAMINED);
    const oldest = await db
      .selectFrom(front.as('front'))
      .innerJoin('threads', 'threads.id', 'front.thread_id')
      .select('front.created_at')
      // A stopped thread leaves its messages queued until it is told to go on.
      .where('threads.status', 'not in', ['waiting', 'stopped', 'terminated'])
      .orderBy('front.created_at')
      .limit(1)
      .executeTakeFirst();
    const waiting = db
      .selectFrom('threads')
      .select(['waiting_since', 'waiting_for'])
      .where(sql<boolean>`waiting_since is not null`)
      .orderBy('waiting_since')
      .limit(MAX_EXAMINED);
    const longest = await db
      .selectFrom(waiting.as('some'))
      .select('waiting_since')
      // As it is written (transaction/waiting-for.ts).
      .where('waiting_for', 'not like', '{"kind":"model"%')
      .orderBy('waiting_since')
      .limit(1)
      .executeTakeFirst();
    const ageMs = (at: number | null | undefined) => (at ? Math.max(0, context.now() - at) / 1000 : 0);
    return {
      threads: Object.fromEntries(threads) as Census['threads'],
      oldestItemMs: ageMs(oldest?.created_at),
      oldestWaitMs: ageMs(longest?.waiting_since),
    };
  });
}
