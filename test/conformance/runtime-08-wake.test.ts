/** runtime §8: a thread is woken for what a relative has queued, even if the store is unreachable in between. */
import { expect, it } from '@jest/globals';
import { RuntimeError } from '../../src/core/value/error.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { fanOutRegistry, fanOutScript } from '../support/fan-out.ts';
import { eventually, testRuntime, testStore } from '../support/runtime.ts';

it('[runtime 8] a relative is woken for its queued items, though the store was unavailable in between', async () => {
  const store = await testStore();
  let away = false;
  let failed = 0;
  const failing: typeof store = {
    ...store,
    threads: {
      ...store.threads,
      async get(threadId) {
        if (!away) return store.threads.get(threadId);
        away = false;
        failed += 1;
        throw new RuntimeError('StoreUnavailable', 'the database is away');
      },
    },
  };
  const model = scriptedModel(fanOutScript);
  const runtime = await testRuntime({
    model,
    store: failing,
    registry: fanOutRegistry(model),
    // The store becomes unreachable between the transaction that queues the message and the signal that announces it.
    probe: (point) => {
      away ||= point === 'relative_told';
    },
  });
  const { client } = runtime;
  const { threadId: thread } = await client.startThread({
    agent: 'lead',
    messages: [{ content: 'peers 2' }],
  });
  await client.waitForIdle(thread);
  const [one = '', two = ''] = (await store.children.list(thread)).map(({ threadId }) => threadId);
  for (const id of [one, two]) await client.waitForIdle(id);
  await client.queueMessage(one, { content: `relay ${two} 1` });
  const told = await eventually('the sender', async () =>
    (await runtime.messages(one)).find(({ name }) => name === 'relay'),
  );
  expect(failed).toBe(1);
  await eventually('the message', async () =>
    (await runtime.messages(two)).some(
      ({ content, status }) => status === 'completed' && content === `${one} 1`,
    ),
  );
  expect(told).toMatchObject({ tool_status: 'success' });
});
