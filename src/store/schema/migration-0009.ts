/**
 * 0009: counters instead of counting queries, so that what a step reads does not grow with its thread: of messages, of
 * steps that count against limits, and of the model steps of an execution. Released; never edited.
 */
import { type Kysely, type Migration, sql } from 'kysely';
import type { Tables } from './tables.ts';

/** One statement each: SQLite adds one column at a time. */
const COLUMNS = [
  'message_count',
  'counted_a',
  'counted_b',
  'asked_from',
  'asked_a',
  'asked_b',
  'open_steps',
] as const;

export const counters: Migration = {
  async up(db: Kysely<Tables>) {
    for (const column of COLUMNS) {
      await db.schema
        .alterTable('threads')
        .addColumn(column, 'integer', (c) => c.notNull().defaultTo(0))
        .execute();
    }
    // Counted like the statements that these columns replace.
    await sql`
      UPDATE threads SET
        asked_from = coalesce(
          (SELECT min(steps.step) FROM steps WHERE steps.thread_id = threads.id AND ${NEWEST}), last_step + 1),
        message_count = (SELECT count(*) FROM messages WHERE messages.thread_id = threads.id),
        open_steps = (
          SELECT count(*) FROM steps WHERE steps.thread_id = threads.id AND steps.state = 'open'),
        counted_a = ${counted('a')},
        counted_b = ${counted('b')},
        asked_a = ${countAsked('a')},
        asked_b = ${countAsked('b')}
    `.execute(db);
  },
};

/** Condition for steps of the execution that has the thread's last step. */
const NEWEST = sql`steps.execution_id = (
  SELECT last.execution_id FROM steps AS last
  WHERE last.thread_id = threads.id AND last.step = threads.last_step)`;

const counted = (side: string) => sql`(
  SELECT count(*) FROM steps
  WHERE steps.thread_id = threads.id AND steps.step >= threads.counted_from AND steps.side = ${sql.lit(side)}
    AND steps.kind IN ('model', 'tools') AND steps.state <> 'abandoned')`;

const countAsked = (side: string) => sql`(
  SELECT count(*) FROM steps
  WHERE steps.thread_id = threads.id AND ${NEWEST} AND steps.side = ${sql.lit(side)}
    AND steps.kind = 'model' AND steps.state IN ('open', 'committed'))`;
