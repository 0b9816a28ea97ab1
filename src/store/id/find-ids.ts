/** Finds ids of a kind by a typed prefix, the shortest first: a complete id is found among longer ones. */
import { sql } from 'kysely';
import { TASK_ID_PREFIX } from '../../core/thread/task-start.ts';
import type { CommandContext } from '../transaction/context.ts';
import type { FindIds, IdKind } from './id-record.ts';

const TABLES = {
  thread: 'threads',
  task: 'threads',
  execution: 'executions',
  wait: 'waits',
  action: 'actions',
  effect: 'effects',
  token: 'api_tokens',
  request: 'variable_requests',
} as const satisfies Record<IdKind, string>;

/**
 * Ids of this kind with this prefix, shortest first, each once; deleted threads are left out. Scans all ids of the
 * kind: not for use by programs.
 */
export async function findIds(
  { db }: CommandContext,
  { kind, prefix, limit }: FindIds,
): Promise<readonly string[]> {
  const start = kind === 'task' ? TASK_ID_PREFIX : '';
  let found = db
    .selectFrom(TABLES[kind])
    .select('id')
    .groupBy('id')
    .orderBy(sql`length(id)`)
    .orderBy('id')
    .limit(limit)
    .where(sql<boolean>`substr(id, 1, ${start.length + prefix.length}) = ${start + prefix}`);
  if (kind === 'thread') found = found.where('id', 'not like', `${TASK_ID_PREFIX}%`);
  // A deleted thread leaves nothing but a row that says so.
  if (start !== '' || kind === 'thread') found = found.where(sql<boolean>`deleted_at is null`);
  const rows = await found.execute();
  return rows.map(({ id }) => id.slice(start.length));
}
