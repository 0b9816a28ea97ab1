/**
 * Counts threads by what they can be filtered by: exactly, from indexes that have all that is needed
 * (schema/migration-0001.ts). Counters instead would be rows that all threads of an agent write and wait for, and no
 * counter knows every combination of filters.
 * - Status, agent and organisation are compared as expressions, so that engines read the one index with all of them
 *   from its begin to its end: through the index of an agent they would read the row of each of its threads. A user has
 *   few threads, and a time or a tag is in no such index: then they choose.
 */
import { type SelectQueryBuilder, sql, type Transaction } from 'kysely';
import { COUNTED_BY, type CountedBy } from '../../core/author/read-options.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inSnapshot } from '../transaction/context.ts';
import { LISTED, whereFiltered } from './list-threads.ts';
import type { CountThreads, ThreadCounts, ThreadFilters } from './thread-record.ts';

/** Tags are in a table of their own: with filters, each thread that matches is looked up there. */
const WITHOUT_TAGS = COUNTED_BY.filter((each) => each !== 'tag');
/** Values that are counted of each of the filters that may have many. */
const MAX_VALUES = 100;

type Query = SelectQueryBuilder<Tables, 'threads', object>;
type Counted = readonly { readonly value: string; readonly count: number }[];

/** Counts the threads that match all given filters. */
export async function countThreads(
  context: CommandContext,
  { by: asks, ...filters }: CountThreads = {},
): Promise<ThreadCounts> {
  const by = asks ?? (isFiltered(filters) ? WITHOUT_TAGS : COUNTED_BY);
  return inSnapshot(context, async (db) => {
    const asked = (what: CountedBy, count: () => Promise<Counted>) => (by.includes(what) ? count() : []);
    const states = await countStates(db, filters);
    return {
      total: states.reduce((sum, { count }) => sum + count, 0),
      status: toCounts(
        await asked('status', async () => states.map((each) => ({ ...each, value: each.status }))),
      ),
      agent: toCounts(
        await asked('agent', async () => states.map((each) => ({ ...each, value: each.agent }))),
      ),
      userId: toCounts(await asked('userId', () => countBy(db, 'user_id', filters))),
      organizationId: toCounts(await asked('organizationId', () => countBy(db, 'organization_id', filters))),
      tag: toCounts(await asked('tag', () => countTags(db, filters))),
    };
  });
}

const STATUS = sql<string>`(status || '')`;
const COUNT = sql<number>`count(*)`;

function matching(db: Transaction<Tables>, { tag, status, ...filters }: ThreadFilters): Query {
  const { agent, organizationId, ...others } = filters;
  const isCovered = tag === undefined && !isFiltered(others);
  let found = whereFiltered(db.selectFrom('threads') as Query, isCovered ? {} : filters).where(LISTED);
  if (status !== undefined) found = found.where(sql<boolean>`${STATUS} = ${status}`);
  if (isCovered && agent !== undefined) found = found.where(sql<boolean>`(agent || '') = ${agent}`);
  if (isCovered && organizationId !== undefined)
    found = found.where(sql<boolean>`(organization_id || '') = ${organizationId}`);
  if (tag === undefined) return found;
  return found.where('id', 'in', db.selectFrom('thread_tags').select('thread_id').where('tag', '=', tag));
}

/** With one status, the index has agents in their order. */
async function countStates(db: Transaction<Tables>, filters: ThreadFilters) {
  const { status } = filters;
  const found = matching(db, filters).select(['agent', COUNT.as('count')]);
  if (status === undefined) return found.select(STATUS.as('status')).groupBy([STATUS, 'agent']).execute();
  return (await found.groupBy('agent').execute()).map((each) => ({ ...each, status }));
}

function countBy(
  db: Transaction<Tables>,
  column: 'user_id' | 'organization_id',
  filters: ThreadFilters,
): Promise<Counted> {
  // Without filters the index of the column has all; else its use would read the row of each thread.
  const has = isFiltered(filters)
    ? sql<boolean>`(${sql.ref(column)} || '') is not null`
    : sql<boolean>`${sql.ref(column)} is not null`;
  return matching(db, filters)
    .where(has)
    .select([sql<string>`${sql.ref(column)}`.as('value'), COUNT.as('count')])
    .groupBy(column)
    .orderBy('count', 'desc')
    .orderBy(column)
    .limit(MAX_VALUES)
    .execute();
}

/** Tasks and deleted threads have no tags. */
function countTags(db: Transaction<Tables>, filters: ThreadFilters): Promise<Counted> {
  const tagged = db.selectFrom('thread_tags');
  return (isFiltered(filters) ? tagged.where('thread_id', 'in', matching(db, filters).select('id')) : tagged)
    .select(['tag as value', COUNT.as('count')])
    .groupBy('tag')
    .orderBy('count', 'desc')
    .orderBy('tag')
    .limit(MAX_VALUES)
    .execute();
}

function isFiltered(filters: ThreadFilters): boolean {
  return Object.values(filters).some((filter) => filter !== undefined);
}

function toCounts(found: Counted): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { value, count } of found) counts.set(value, (counts.get(value) ?? 0) + count);
  return Object.fromEntries(counts);
}
