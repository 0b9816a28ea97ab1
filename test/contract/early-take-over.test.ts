/** A thread that an early version left in a step it had taken over: queued tools had already opened the next step. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { Kysely } from 'kysely';
import type { Tables } from '../../src/store/schema/tables.ts';
import { NodeSqliteDialect } from '../../src/store/sqlite/dialect.ts';
import { openForSuite } from './opened-store.ts';
import { call, message, openThread, type ThreadDriver } from './thread-driver.ts';

const path = join(process.env.EVERTHREAD_TEST_FOLDER as string, `${randomUUID()}.db`);

/** Opens step 2 beside step 1, whose call has no result yet. */
async function openBeside({ id }: ThreadDriver): Promise<void> {
  const db = new Kysely<Tables>({ dialect: new NodeSqliteDialect({ path, synchronous: 'normal' }) });
  const first = db.selectFrom('steps').selectAll().where('thread_id', '=', id);
  const step = await first.executeTakeFirstOrThrow();
  await db
    .insertInto('steps')
    .values({ ...step, step: 2, kind: 'tools', message_id: null, model: null, text: 0 })
    .execute();
  const calls = db.selectFrom('tool_calls').selectAll().where('thread_id', '=', id);
  const look = await calls.executeTakeFirstOrThrow();
  await db
    .insertInto('tool_calls')
    .values({ ...look, step: 2, call_id: 'queued_t', name: 'tidy' })
    .execute();
  await db.updateTable('threads').set({ last_step: 2 }).where('id', '=', id).execute();
  await db.destroy();
}

it('[runtime 5.1] a run that goes on finishes both steps of an early version, one after the other', async () => {
  const { store, close } = await openForSuite(`sqlite:${path}?synchronous=normal`);
  const thread = await openThread(store);
  await thread.answer([message('a')], { toolCalls: [call('c', 'look')] });
  await openBeside(thread);
  const revived = thread.as('run-2');
  expect(await revived.open()).toMatchObject({ afterStep: 0, turnOpen: true });
  expect(await revived.begin([message('b')])).toMatchObject({
    kind: 'stored',
    record: { step: 1, calls: ['look'], moreInput: true },
  });
  await revived.runTool(1, 0);
  revived.afterStep = 1;
  expect(await revived.begin()).toMatchObject({
    kind: 'stored',
    swept: 0,
    record: { step: 2, kind: 'tools', calls: ['tidy'], moreInput: false },
  });
  await revived.runTool(2, 0);
  revived.afterStep = 2;
  expect(await revived.begin()).toMatchObject({ kind: 'call', step: 3, swept: 1 });
  await close();
});
