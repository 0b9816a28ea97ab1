/**
 * Figures of the whole store, for monitoring.
 * C1. The cost of a census is bounded, however many threads there are: it counts up to a limit, over indexes.
 */
import { sql } from 'kysely';
import type { ThreadStatus } from '../../core/thread/step.ts';
import { TASK_ID_PREFIX } from '../../core/thread/task-start.ts';
import { type CommandContext, inSnapshot } from '../transaction/context.ts';
import type { Census } from './thread-record.ts';

const STATUSES: readonly ThreadStatus[] = ['idle', 'running', 'waiting', 'stopped', 'failed', 'terminated'];
const MAX_COUNT = 10_000;
/** Most queued items that are examined: the first ones may be of threads that wait. */
const MAX_EXAMINED_ITEMS = 1000;

/** Has a bounded cost, however many threads there are. */
export async function takeCensus(context: CommandContext): Promise<Census> {
  return inSnapshot(context, async (db) => {
    const threads: [ThreadStatus, number][] = [];
    for (const status of STATUSES) {
      // C1: up to a limit.
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
