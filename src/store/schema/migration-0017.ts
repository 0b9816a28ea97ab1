/**
 * 0017: indexes for lists of executions: of all threads, of one, of an agent, of a run, a session or a trace, of those
 * that run and those that ended early; and by their ids.
 */
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

const ORDER = ['started_at', 'thread_id', 'id'] as const;

export const executionOrder: Migration = {
  async up(db: Kysely<Tables>) {
    const make = (name: string, columns: readonly string[]) =>
      db.schema
        .createIndex(`executions_${name}`)
        .on('executions')
        .columns([...columns]);
    await make('in_order', ORDER).execute();
    await make('of_thread', ['thread_id', 'started_at', 'id']).execute();
    await make('by_agent', ['agent', ...ORDER]).execute();
    await make('by_id', ['id', 'started_at', 'thread_id']).execute();
    // Partial: most executions have no entry. A query must contain the condition as a literal, or imply it.
    await make('under_way', ORDER).where(sql<boolean>`ended_at IS NULL`).execute();
    await make('ended_early', ORDER).where(sql<boolean>`ended_as IS NOT NULL`).execute();
    for (const name of ['run', 'session', 'trace']) {
      await db.schema.dropIndex(`executions_by_${name}`).execute();
      await make(`by_${name}`, [`${name}_id`, ...ORDER])
        .where(sql<boolean>`${sql.ref(`${name}_id`)} IS NOT NULL`)
        .execute();
    }
  },
};
