/** What a run may not leave behind when it continues as new: a stop that came in the last moment, and a start that is under way. */
import { describe, expect, it } from '@jest/globals';
import type { ThreadStore } from '../../src/store/port/thread-store.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { eventually, testRuntime, testStore } from '../support/runtime.ts';

/** More than the beginning of a run makes, and less than that and a turn. */
const LIMIT = 20;

type Hold = <Values extends unknown[], Answer>(
  command: (...values: Values) => Promise<Answer>,
) => (...values: Values) => Promise<Answer>;

/** The first call of a command that is held stays there until it is let go. */
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

describe('a thread that is about to continue as new', () => {
  it('settles a stop that comes while it hands its queue to the store', async () => {
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
    const runtime = await testRuntime({ model, store, probe, configuration: { historySoftLimit: LIMIT } });
    const { client } = runtime;
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'hi' }] });
    await ending.promise;
    // More than a run carries.
    for (const id of ['a', 'b', 'c']) await client.queueMessage(threadId, { id, content: id.repeat(3500) });
    queued.resolve();
    await reached;
    await client.stop(threadId, 'enough');
    letGo();
    const isStopped = async () => (await client.getThread(threadId)).status === 'stopped';
    await eventually('the stop is settled', isStopped);
    await client.waitForIdle(threadId);
    expect(await runtime.transcript(threadId)).toHaveLength(5);
  });

  it('stays where it is while children are being started', async () => {
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
    // Each turn is beyond the limit; a second one would be another run's.
    for (const content of ['1', '2']) await runtime.say(threadId, content);
    expect(await runOf()).toBe(run);
    letGo();
    await eventually('the next run', async () => (await runOf()) !== run);
  });
});
