/** What a step writes of its request: the same in a long thread as in a short one, also while a window drops messages. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { ProviderMessage } from '../../src/core/message/provider.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { openBeside } from '../support/database-beside.ts';
import { isLong } from '../support/long-form.ts';
import { lengthen } from '../support/long-thread.ts';
import { closeAfterTest } from '../support/runtime.ts';
import { makeSent } from './store/request.ts';
import { call, message, openThread, ThreadDriver } from './thread-driver.ts';

const LONG = isLong ? 20_000 : 10_000;
const usage = { promptTokens: 10, completionTokens: 2, totalTokens: 12 };
const result = { status: 'success', result: 'x'.repeat(5000) } as const;

async function openLong() {
  const address = `sqlite:${join(process.env.EVERTHREAD_TEST_FOLDER as string, `${randomUUID()}.db`)}`;
  const open = async () => {
    const store = await openStore(address, '');
    closeAfterTest(() => store.close());
    return store;
  };
  const store = await open();
  const first = await openThread(store);
  await first.answer([message('asked')]);
  await first.rest();
  const db = openBeside(address);
  closeAfterTest(() => db.destroy());
  await lengthen(db, first.id, LONG);
  const thread = new ThreadDriver(store, first.id, `run-${randomUUID()}`);
  const opened = await thread.open({ mustExist: true });
  thread.afterStep = opened.kind === 'open' ? opened.afterStep : 0;
  thread.executionId = 'execution-long';
  /** Bytes in the rows of the thread's calls by step, and of all texts. */
  const measure = async () => {
    const rows = await db
      .selectFrom('model_calls')
      .selectAll()
      .where('thread_id', '=', first.id)
      .where('request', 'is not', null)
      .orderBy('step')
      .execute();
    const texts = await db
      .selectFrom('request_texts')
      .selectAll()
      .where('thread_id', '=', first.id)
      .execute();
    return {
      rows: rows.map(({ chain, request }) => (chain?.length ?? 0) + (request?.length ?? 0)),
      texts: texts.reduce((sum, { body }) => sum + (body?.length ?? 0), 0),
    };
  };
  /** A step whose request is not kept. */
  const turn = async () => {
    await thread.commit(await thread.beginCall([message('go')]), { toolCalls: [] });
    thread.afterStep += 1;
  };
  return { thread, open, measure, turn };
}

/** A step that calls a tool whose result is long. `kept`: how many of the newest messages its request has. */
async function step(
  thread: ThreadDriver,
  store: ThreadStore,
  { kept = Number.MAX_SAFE_INTEGER, ...asked }: Parameters<typeof makeSent>[2] & { kept?: number } = {},
) {
  const own = thread.as(thread.runId, store);
  const ref = await thread.beginCall(thread.afterStep % 7 === 0 ? [message(randomUUID())] : []);
  const hook = ([system, ...rest]: readonly ProviderMessage[]) => [
    system as ProviderMessage,
    ...rest.slice(-kept),
  ];
  const sent = await makeSent(thread, ref, { hook, store, ...asked });
  await store.modelCalls.start({ ...ref, call: 1, model: 'main', modelId: 'm-1' });
  const toolCalls = [call(`c${ref.step}`, 'look')];
  await own.commit(ref, { content: null, toolCalls, call: { call: 1, usage, sent } });
  thread.afterStep = ref.step;
  await own.beginTool(ref.step, 0);
  await own.commitTool(ref.step, 0, { result });
  return { id: `${ref.step}.1.1`, sent };
}

describe('a request in a long thread', () => {
  it('whose long prompt differs a little each time adds at most 1 KB a step', async () => {
    const { thread, measure, turn } = await openLong();
    const words = `Rule \u{1F600} "one".\n`.repeat(1000);
    const hooked =
      (at: string) =>
      ([, ...rest]: readonly ProviderMessage[]) => [
        { role: 'system' as const, content: `${words}It is \u{1F601}${at}\u{1F602}. ${words}` },
        ...rest,
      ];
    await turn();
    await step(thread, thread.store, { hook: hooked('noon') });
    let before = await measure();
    for (const at of ['one o’clock', '', 'noon', '\u{1F603}', 'noon or later']) {
      const { id, sent } = await step(thread, thread.store, { hook: hooked(at), ownPrompt: at !== '' });
      const after = await measure();
      const added = after.texts - before.texts + (after.rows.at(-1) ?? 0);
      expect(added).toBeLessThanOrEqual(1024);
      before = after;
      const { request, gaps } = await thread.store.modelCalls.readRequest(thread.id, id);
      expect(gaps).toEqual([]);
      expect(request).toEqual(JSON.parse(JSON.stringify(sent.request)));
    }
  });

  it.each([
    ['that is sent whole', () => undefined, false],
    ['whose window drops messages in front', () => 9000, false],
    ['whose window is smaller for every second request', (n: number) => (n % 2 ? 9000 : 500), false],
    ['that two processes write in turns', () => 9000, true],
  ] as const)('%s adds at most 1 KB a step', async (_which, window, turns) => {
    const { thread, open, measure, turn } = await openLong();
    const stores = [thread.store, turns ? await open() : thread.store];
    await turn();
    let last = await step(thread, stores[0] as ThreadStore, { kept: window(1) });
    const before = await measure();
    for (let n = 0; n < 12; n += 1)
      last = await step(thread, stores[n % 2] as ThreadStore, { kept: window(n) });
    const after = await measure();
    expect(after.rows.length - before.rows.length).toBe(12);
    for (const bytes of after.rows.slice(1)) expect(bytes).toBeLessThanOrEqual(1024);
    expect(after.texts).toBe(before.texts);
    const { request, gaps } = await thread.store.modelCalls.readRequest(thread.id, last.id);
    expect(gaps).toEqual([]);
    expect(request).toEqual(JSON.parse(JSON.stringify(last.sent.request)));
  });
});
