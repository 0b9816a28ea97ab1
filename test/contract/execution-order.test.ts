/**
 * Every list of executions is read off an index. Checked by the plans that both engines make for the store's own
 * statements, over enough executions for a scan or a sort to show.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { CompiledQuery, type Kysely, sql } from 'kysely';
import {
  findExecution,
  getExecution,
  getExecutionAt,
  listExecutions,
} from '../../src/store/execution/read-execution.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Tables } from '../../src/store/schema/tables.ts';
import type { CommandContext } from '../../src/store/transaction/context.ts';
import { openBeside } from '../support/database-beside.ts';
import { createDatabase } from '../support/postgres.ts';
import { closeAfterTest } from '../support/runtime.ts';
import { message, openThread } from './thread-driver.ts';

const THREADS = 50;
const EACH = 100;
const PAGE = { limit: 5 };
const before = { startedAt: 10_000, threadId: 'thread-7', id: 'execution-7' };

const READS: readonly (readonly [string, string, (context: CommandContext) => Promise<unknown>])[] = [
  ['all', 'in_order', (context) => listExecutions(context, PAGE)],
  ['a page behind another', 'in_order', (context) => listExecutions(context, { ...PAGE, before })],
  ['completed ones', 'in_order', (context) => listExecutions(context, { ...PAGE, state: 'completed' })],
  [
    'those of an agent',
    'by_agent',
    (context) => listExecutions(context, { ...PAGE, agent: 'agent-3', before }),
  ],
  [
    'those of a thread',
    'of_thread',
    (context) => listExecutions(context, { ...PAGE, threadId: 'thread-7', before }),
  ],
  ['those of a run', 'by_run', (context) => listExecutions(context, { ...PAGE, runId: 'label-3', before })],
  [
    'those of a session',
    'by_session',
    (context) => listExecutions(context, { ...PAGE, sessionId: 'label-3' }),
  ],
  ['those of a trace', 'by_trace', (context) => listExecutions(context, { ...PAGE, traceId: 'label-3' })],
  [
    'those under way',
    'under_way',
    (context) => listExecutions(context, { ...PAGE, state: 'working', before }),
  ],
  [
    'those that wait',
    'under_way',
    (context) => listExecutions(context, { ...PAGE, state: 'input-required' }),
  ],
  ['failed ones', 'ended_early', (context) => listExecutions(context, { ...PAGE, state: 'failed', before })],
  ['canceled ones', 'ended_early', (context) => listExecutions(context, { ...PAGE, state: 'canceled' })],
  ['one by its id', 'by_id', (context) => findExecution(context, 'execution-9-9')],
  ['the newest of a thread', 'of_thread', (context) => getExecution(context, 'thread-7')],
  ['the one at a row', 'of_thread', (context) => getExecutionAt(context, 'thread-7', 50)],
];

/** Fills the tables with copies of one thread and its execution: some of each kind. */
async function fill(db: Kysely<Tables>, threadId: string): Promise<void> {
  const columns = async (name: string) =>
    (await db.introspection.getTables())
      .find((table) => table.name === name)
      ?.columns.map((column) => column.name) ?? [];
  const copy = async (table: 'threads' | 'executions', given: Record<string, string>) => {
    const all = await columns(table);
    const values = all.map((name) => sql.raw(given[name] ?? `s.${name}`));
    await sql`
      WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t WHERE i < ${sql.lit(THREADS)}),
        e(j) AS (SELECT 1 UNION ALL SELECT j + 1 FROM e WHERE j < ${sql.lit(table === 'threads' ? 1 : EACH)})
      INSERT INTO ${sql.table(table)} (${sql.join(all.map((name) => sql.ref(name)))})
      SELECT ${sql.join(values)} FROM ${sql.table(table)} AS s CROSS JOIN t CROSS JOIN e
      WHERE ${sql.ref(table === 'threads' ? 's.id' : 's.thread_id')} = ${threadId}
    `.execute(db);
  };
  const label = `CASE WHEN j % 10 = 0 THEN 'label-' || (i % 20) END`;
  await copy('threads', {
    id: `'thread-' || i`,
    root_id: `'thread-' || i`,
    status: `CASE i % 2 WHEN 0 THEN 'waiting' ELSE s.status END`,
  });
  await copy('executions', {
    thread_id: `'thread-' || i`,
    id: `'execution-' || i || '-' || j`,
    started_at: `CAST(j AS BIGINT) * ${THREADS} + i`,
    ended_at: `CASE WHEN j = ${EACH} THEN NULL ELSE CAST(j AS BIGINT) * ${THREADS} + i END`,
    ended_as: `CASE j % 50 WHEN 1 THEN 'failed' WHEN 2 THEN 'stopped' END`,
    first_seq: 'j',
    agent: `'agent-' || (i % 20)`,
    run_id: label,
    session_id: label,
    trace_id: label,
  });
}

/** Returns for each read the plans of its statements, as text. */
async function plansOf(address: string, explain: string): Promise<readonly (readonly [string, string])[]> {
  const store = await openStore(address, '');
  closeAfterTest(() => store.close());
  const thread = await openThread(store);
  await thread.answer([message('a')]);
  const asked: CompiledQuery[] = [];
  const db = openBeside(address, '', ({ query }) => void asked.push(query));
  closeAfterTest(() => db.destroy());
  await fill(db, thread.id);
  if (explain === 'explain') await sql`analyze`.execute(db);
  const plans: [string, string][] = [];
  for (const [what, , read] of READS) {
    asked.length = 0;
    await read({ db } as unknown as CommandContext);
    const lines: string[] = [];
    for (const query of [...asked]) {
      const { rows } = await db.executeQuery<Record<string, unknown>>(
        CompiledQuery.raw(`${explain} ${query.sql}`, [...query.parameters]),
      );
      lines.push(...rows.map((row) => String(row.detail ?? row['QUERY PLAN'])));
    }
    plans.push([what, lines.join('\n')]);
  }
  return plans;
}

const SORTED = /TEMP B-TREE|Sort/;
const SCANNED = /Seq Scan on executions|SCAN executions(\n|$)/;

function check(plans: readonly (readonly [string, string])[]): void {
  for (const [n, [what, index]] of READS.entries()) {
    const [, plan = ''] = plans[n] ?? [];
    expect(`${what}: ${plan}`).toContain(`executions_${index}`);
    expect(`${what}: ${plan}`).not.toMatch(SCANNED);
    // A lookup by id may sort: it picks the latest of the few executions with that id.
    if (index !== 'by_id') expect(`${what}: ${plan}`).not.toMatch(SORTED);
  }
}

describe('the list of executions', () => {
  it('[PL-24] is ordered by an index on SQLite', async () => {
    const file = join(process.env.EVERTHREAD_TEST_FOLDER as string, `${randomUUID()}.db`);
    check(await plansOf(`sqlite:${file}`, 'explain query plan'));
  });

  it('[PL-24] is ordered by an index on PostgreSQL', async () => {
    const database = await createDatabase();
    closeAfterTest(() => database.drop());
    check(await plansOf(database.address, 'explain'));
  });
});
