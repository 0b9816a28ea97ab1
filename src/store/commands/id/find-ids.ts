/** Finds ids of a kind by a typed prefix, the shortest first: a complete id is found among longer ones. */
import { sql } from 'kysely';
import { TASK_ID_PREFIX } from '../../../core/thread/task-start.ts';
import type { FindIds, IdKind } from '../../port/id.ts';
import type { CommandContext } from '../base/context.ts';

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
