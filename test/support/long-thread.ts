/**
 * Makes a long thread in the time that a short one takes: its first execution runs through the store's own commands,
 * then all rows of it are copied in the database, each copy later than the previous one, and the thread's counters are
 * moved.
 */
import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Tables } from '../../src/store/schema/tables.ts';
import type { ThreadTable } from '../../src/store/thread/thread-record.ts';

/** Tables that grow with the length of a thread. */
export const GROWING = [
  'messages',
  'executions',
  'steps',
  'tool_calls',
  'model_calls',
  'events',
  'items',
  'command_keys',
] as const satisfies readonly (keyof Tables)[];

/** Number of ordinals reserved for one execution. */
const ORDINALS = 1000;

/** Extends a thread at rest to at least `messages` messages; returns how many it has. */
export async function lengthen(db: Kysely<Tables>, threadId: string, messages: number): Promise<number> {
  const thread = await db
    .selectFrom('threads')
    .selectAll()
    .where('id', '=', threadId)
    .executeTakeFirstOrThrow();
  const copies = Math.ceil(messages / thread.message_count) - 1;
  if (copies > 0) await db.transaction().execute((trx) => copy(trx, thread, copies));
  return (copies + 1) * thread.message_count;
}

async function copy(db: Kysely<Tables>, thread: Selectable<ThreadTable>, copies: number): Promise<void> {
  const tables = await db.introspection.getTables();
  for (const table of GROWING) {
    const columns = tables.find(({ name }) => name === table)?.columns.map(({ name }) => name) ?? [];
    const copied = columns.map((column) => copyOf(table, column, thread));
    await sql`
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sql.lit(copies)})
      INSERT INTO ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
      SELECT ${sql.join(copied)} FROM ${sql.table(table)} AS s CROSS JOIN n WHERE s.thread_id = ${thread.id}
    `.execute(db);
  }
  await db
    .updateTable('threads')
    .set({
      last_step: thread.last_step * (copies + 1),
      event_seq: Number(thread.event_seq) * (copies + 1),
      message_count: thread.message_count * (copies + 1),
      clock: Number(thread.clock) + thread.message_count * copies,
    })
    .where('id', '=', thread.id)
    .execute();
}

function copyOf(table: string, column: string, thread: Selectable<ThreadTable>): RawBuilder<unknown> {
  const value = sql.ref(`s.${column}`);
  const later = (by: number) => sql`${value} + n.i * ${sql.lit(by)}`;
  // Creation times of messages are unique and ordered.
  if (table === 'messages' && column === 'created_at') {
    const place = sql`row_number() OVER (PARTITION BY n.i ORDER BY s.created_at)`;
    return sql`${sql.lit(Number(thread.clock))} + (n.i - 1) * ${sql.lit(thread.message_count)} + ${place}`;
  }
  switch (column) {
    case 'id':
    case 'execution_id':
    case 'message_id':
      return sql`${value} || '-' || n.i`;
    case 'step':
      return later(thread.last_step);
    case 'seq':
    case 'first_seq':
      return later(Number(thread.event_seq));
    case 'ordinal':
      return later(ORDINALS);
    default:
      return sql`${value}`;
  }
}
