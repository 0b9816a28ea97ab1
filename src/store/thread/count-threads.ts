/**
 * Counts threads by what they can be filtered by.
 * - Each count is read from an index that has all it needs (schema/migration-0001.ts), and is exact. Counters instead
 *   would be rows that all threads of an agent write and wait for; and no counter knows every combination of filters.
 * - With further filters, engines choose an index, and read the rows that it finds.
 */
import { type SelectQueryBuilder, sql } from 'kysely';
import type { ThreadStatus } from '../../core/thread/step.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inSnapshot } from '../transaction/context.ts';
import { COUNTED, whereFiltered } from './list-threads.ts';
import type { ThreadCounts, ThreadFilters } from './thread-record.ts';

/** Values that are counted of each of the filters that may have many. */
const MAX_VALUES = 100;

type ThreadQuery = SelectQueryBuilder<Tables, 'threads', object>;

/** Counts the threads that match all given filters. */
export async function countThreads(
  context: CommandContext,
  { tag, status, ...filters }: ThreadFilters = {},
): Promise<ThreadCounts> {
  return inSnapshot(context, async (db) => {
    const matching = () => {
      let found = whereFiltered(db.selectFrom('threads') as ThreadQuery, filters).where(COUNTED);
      // The expression of the index.
      if (status !== undefined) found = found.where(sql<boolean>`(status || '') = ${status}`);
      if (tag !== undefined)
        found = found.where(
          'id',
          'in',
          db.selectFrom('thread_tags').select('thread_id').where('tag', '=', tag),
        );
      return found;
    };
    const states = await matching()
      .select([sql<ThreadStatus>`(status || '')`.as('status'), 'agent', sql<number>`count(*)`.as('count')])
      .groupBy([sql`(status || '')`, 'agent'])
      .execute();
    const most = async (value: 'user_id' | 'organization_id') => {
      const found = await matching()
        .where(value, 'is not', null)
        .select([sql<string>`${sql.ref(value)}`.as('value'), sql<number>`count(*)`.as('count')])
        .groupBy(value)
        .orderBy('count', 'desc')
        .orderBy(value)
        .limit(MAX_VALUES)
        .execute();
      return toCounts(found);
    };
    const tags = await db
      .selectFrom('thread_tags')
      .where('thread_id', 'in', matching().select('id'))
      .select(['tag as value', sql<number>`count(*)`.as('count')])
      .groupBy('tag')
      .orderBy('count', 'desc')
      .orderBy('tag')
      .limit(MAX_VALUES)
      .execute();
    return {
      total: states.reduce((sum, { count }) => sum + count, 0),
      status: toCounts(states.map(({ status: value, count }) => ({ value, count }))),
      agent: toCounts(states.map(({ agent: value, count }) => ({ value, count }))),
      userId: await most('user_id'),
      organizationId: await most('organization_id'),
      tag: toCounts(tags),
    };
  });
}

function toCounts(
  found: readonly { readonly value: string; readonly count: number }[],
): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { value, count } of found) counts.set(value, (counts.get(value) ?? 0) + count);
  return Object.fromEntries(counts);
}
