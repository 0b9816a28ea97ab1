/** How long requests to models are kept: not at all, for days, as long as their thread. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { ProviderMessage } from '../../src/core/message/provider.ts';
import { openStore } from '../../src/store/open-store.ts';
import { openBeside } from '../support/database-beside.ts';
import { closeAfterTest } from '../support/runtime.ts';
import { makeSent } from './store/request.ts';
import { message, openThread, type ThreadDriver } from './thread-driver.ts';

const usage = { promptTokens: 10, completionTokens: 2, totalTokens: 12 };
const DAY_US = 86_400_000_000;

async function open(requestDays?: number) {
  const address = `sqlite:${join(process.env.EVERTHREAD_TEST_FOLDER as string, `${randomUUID()}.db`)}`;
  const store = await openStore(address, '', { requestDays });
  closeAfterTest(() => store.close());
  const db = openBeside(address);
  closeAfterTest(() => db.destroy());
  return { store, db };
}

/** A step whose request has a message of a hook. */
async function ask(thread: ThreadDriver, text: string) {
  const ref = await thread.beginCall([message(randomUUID())]);
  const note: ProviderMessage = { role: 'user', content: text };
  const sent = await makeSent(thread, ref, { hook: (messages) => [...messages, note] });
  await thread.store.modelCalls.start({ ...ref, call: 1, model: 'main', modelId: 'm-1' });
  await thread.commit(ref, { call: { call: 1, usage, sent } });
  thread.afterStep = ref.step;
  await thread.rest();
  return sent;
}

describe('requests of model calls', () => {
  it('are kept as long as their thread by default, and nothing is looked for', async () => {
    const { store } = await open();
    const thread = await openThread(store);
    await ask(thread, 'noon');
    expect(await store.modelCalls.removeRequests('')).toBe(null);
    expect(await store.modelCalls.list(thread.id)).toMatchObject([{ request: 'kept' }]);
  });

  it('are not kept if that is switched off', async () => {
    const { store, db } = await open(0);
    const thread = await openThread(store);
    await ask(thread, 'noon');
    expect(await store.modelCalls.list(thread.id)).toMatchObject([{ status: 'ok', request: 'off' }]);
    await expect(store.modelCalls.readRequest(thread.id, '1.1.1')).rejects.toMatchObject({
      code: 'RequestRemoved',
      message: expect.stringContaining('EVERTHREAD_REQUESTS'),
    });
    expect(await db.selectFrom('request_texts').selectAll().execute()).toEqual([]);
  });

  it('are removed after their days, with the texts that no other one names; later ones go on', async () => {
    const { store, db } = await open(2);
    const thread = await openThread(store);
    await ask(thread, 'the first noon');
    await ask(thread, 'the second noon');
    const third = await ask(thread, 'the third noon');
    const age = (step: number, days: number) =>
      db
        .updateTable('model_calls')
        .set((eb) => ({ started_at: eb('started_at', '-', days * DAY_US) }))
        .where('step', '=', step)
        .execute();
    await age(1, 3);
    await age(2, 1);
    const before = await store.threads.get(thread.id);
    expect(await store.modelCalls.removeRequests('')).toBe(null);
    expect(await store.modelCalls.list(thread.id)).toMatchObject([
      { request: 'removed' },
      { request: 'kept' },
      { request: 'kept' },
    ]);
    await expect(store.modelCalls.readRequest(thread.id, '1.1.1')).rejects.toMatchObject({
      code: 'RequestRemoved',
      message: expect.stringContaining('days'),
    });
    const texts = await db.selectFrom('request_texts').select('body').execute();
    expect(JSON.stringify(texts)).not.toContain('the first noon');
    expect((await store.modelCalls.readRequest(thread.id, '3.1.1')).request).toEqual(
      JSON.parse(JSON.stringify(third.request)),
    );
    // A thread does not move in lists because of it.
    expect(await store.threads.get(thread.id)).toEqual(before);
    // What was removed is stored again if it is sent again.
    const fourth = await ask(thread, 'the first noon');
    expect((await store.modelCalls.readRequest(thread.id, '4.1.1')).request).toEqual(
      JSON.parse(JSON.stringify(fourth.request)),
    );
  });

  it('begin anew after all of them were removed', async () => {
    const { store, db } = await open(2);
    const thread = await openThread(store);
    await ask(thread, 'noon');
    await db
      .updateTable('model_calls')
      .set((eb) => ({ started_at: eb('started_at', '-', 3 * DAY_US) }))
      .execute();
    await store.modelCalls.removeRequests('');
    const later = await openStore(store.place.replace('SQLite at ', 'sqlite:'), '', { requestDays: 2 });
    closeAfterTest(() => later.close());
    const next = Object.assign(thread.as('run-2', later), { afterStep: 1 });
    await next.open({ mustExist: true });
    const sent = await ask(next, 'noon');
    const calls = await later.modelCalls.list(thread.id);
    expect(calls.map(({ request }) => request)).toEqual(['removed', 'kept']);
    const read = await later.modelCalls.readRequest(thread.id, calls[1]?.id ?? '');
    expect(read.request).toEqual(JSON.parse(JSON.stringify(sent.request)));
  });
});
