/**
 * Work that a run must not leave behind when it continues as new: a stop at the last moment, and a child being started.
 */
import { describe, expect, it } from '@jest/globals';
import type { ThreadStore } from '../../src/store/store.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { eventually, testRuntime, testStore } from '../support/runtime.ts';

/** More events than the beginning of a run makes, and fewer than that plus one turn. */
const LIMIT = 20;

type Hold = <Values extends unknown[], Answer>(
  command: (...values: Values) => Promise<Answer>,
) => (...values: Values) => Promise<Answer>;

/** A store in which the first held command blocks until `letGo` is called. */
async function holdingStore(holding: (store: ThreadStore, hold: Hold) => Partial<ThreadStore>) {
  const store = await testStore();
  const reached = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const hold: Hold =
    (command) =>
    async (...values) => {
      reached.resolve();
      await left.promise;
      return command(...values);
    };
  Object.assign(store, holding(store, hold));
  return { store, reached: reached.promise, letGo: left.resolve };
}

describe('a thread about to continue as new', () => {
  it('handles a stop that arrives while its queue is written to the store', async () => {
    const { store, reached, letGo } = await holdingStore(({ queue }, hold) => ({
      queue: { ...queue, spill: hold(queue.spill) },
    }));
    const ending = Promise.withResolvers<void>();
    const queued = Promise.withResolvers<void>();
    const probe = async (point: string) => {
      if (point !== 'status_committed') return;
      ending.resolve();
      await queued.promise;
    };
    const model = scriptedModel([says('hello')]);
    // The end of the turn is an activity of its own, during which nothing is spilled.
    const configuration = { historySoftLimit: LIMIT, stepsPerActivity: 1 };
    const runtime = await testRuntime({ model, store, probe, configuration });
    const { client } = runtime;
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'hi' }] });
    await ending.promise;
    // More than a run carries over when it continues as new; our client would store it first.
    const handle = client.temporal.workflow.getHandle(`thread/${threadId}`);
    for (const id of ['a', 'b', 'c']) await handle.signal('queueMessage', { id, content: id.repeat(3500) });
    queued.resolve();
    await reached;
    await client.stop(threadId, 'enough');
    letGo();
    const isStopped = async () => (await client.getThread(threadId)).status === 'stopped';
    await eventually('the stop is settled', isStopped);
    await client.waitForIdle(threadId);
    expect(await runtime.transcript(threadId)).toHaveLength(5);
  });

  it('does not continue as new while children are being started', async () => {
    const { store, reached, letGo } = await holdingStore(({ children }, hold) => ({
      children: { ...children, listUnstarted: hold(children.listUnstarted) },
    }));
    const model = scriptedModel([says('one'), says('two')]);
    const runtime = await testRuntime({ model, store, configuration: { historySoftLimit: LIMIT } });
    const { client } = runtime;
    const { threadId } = await client.startThread({ agent: 'helper' });
    const handle = client.temporal.workflow.getHandle(`thread/${threadId}`);
    const runOf = async () => (await handle.describe()).runId;
    await handle.signal('wakeForMessages', { boot: true });
    await reached;
    const run = await runOf();
    // Each turn exceeds the limit; without the child, the second one would be in another run.
    for (const content of ['1', '2']) await runtime.say(threadId, content);
    expect(await runOf()).toBe(run);
    letGo();
    await eventually('the next run', async () => (await runOf()) !== run);
  });
});
