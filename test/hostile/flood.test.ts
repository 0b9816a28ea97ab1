/**
 * More signals at once than one script of the workflow's context accepts: the rest follows in the next script, in
 * order. Its large form is test/soak/signal-flood.soak.ts; bench/activation.ts measures its cost.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import { LIMITS } from '../../src/core/value/limit.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { conversation } from '../support/conversation.ts';
import { eventually } from '../support/eventually.ts';
import { echo } from '../support/hostile.ts';
import { connectPatiently } from '../support/patient-client.ts';
import { json, rawSignal } from '../support/raw-payload.ts';
import { replayRun } from '../support/replay-run.ts';
import { helperRegistry } from '../support/runtime.ts';
import { inputsOf } from '../support/scheduled.ts';
import { openTestStore, startWorker, type TestWorker } from '../support/worker-pool.ts';

const CONTENT = 'x'.repeat(30_000);
/** Twice what one script reads, so that a part of it waits. */
const LARGE = Math.ceil((2 * LIMITS.scriptBytes) / CONTENT.length);
const MANY = Array.from({ length: LIMITS.stashItems + 200 }, (_, index) => `m${index}`);

type Send = (name: string, content: unknown) => Promise<unknown>;

/** Contents that the case `ordered` has sent, in order. */
const sent: string[] = [];

/** Each floods its own thread, which rests and has no worker. */
const FLOODS = {
  async ordered(send: Send) {
    for (let index = 0; index < LARGE; index++) {
      sent.push(`${index}`);
      await send('queueMessage', { content: `${index}`.padEnd(8) + CONTENT });
      if (index % 10 === 0) await send('nothing', index);
      if (index % 25 === 0) await send('wakeForMessages', {});
    }
    for (let index = 0; index < 2 * LIMITS.singleSignals; index++) {
      sent.push(`small ${index}`);
      await send('queueMessage', { content: `small ${index}` });
    }
  },
  async stopped(send: Send) {
    for (let index = 0; index < LARGE; index++) await send('queueMessage', { content: CONTENT });
    await send('stop', { reason: 'enough' });
  },
  async many(send: Send) {
    await send('queueMessage', { content: 'first' });
    for (let from = 0; from < MANY.length; from += 50)
      await Promise.all(
        MANY.slice(from, from + 50).map((id) => send('queueMessage', { id, content: id.padEnd(200) })),
      );
  },
  async ended(send: Send) {
    for (let index = 0; index < LARGE; index++) await send('queueMessage', { content: CONTENT });
    await send('terminate', {});
  },
  async refused(send: Send) {
    const bad = Array.from({ length: 3 * LIMITS.rejections }, (_, index) => ({ index }));
    await Promise.all(bad.map((content) => send('queueMessage', content)));
  },
} as const;
type Flood = keyof typeof FLOODS;

describe('signals beyond the limit of one script', () => {
  const threads = new Map<Flood, string>();
  const threadOf = (flood: Flood) => threads.get(flood) as string;
  const closers: (() => Promise<void>)[] = [];
  let store: ThreadStore;
  let client: RuntimeClient;

  /** One worker starts for all of the threads. */
  beforeAll(async () => {
    store = await openTestStore();
    closers.push(() => store.close());
    const place = { store, taskQueue: `flood-${randomUUID()}` };
    client = await connectPatiently(place);
    closers.push(() => client.close());
    const begin = async (): Promise<TestWorker> => {
      const registry = helperRegistry({ model: echo() });
      const worker = await startWorker(TERMS, place, { registry: () => registry });
      closers.push(() => worker.stop());
      return worker;
    };
    const before = await begin();
    for (const name of Object.keys(FLOODS) as Flood[]) threads.set(name, await conversation(client).start());
    await before.stop();
    for (const [name, flood] of Object.entries(FLOODS))
      await flood((signal, content) => rawSignal(client, threadOf(name as Flood), signal, [json(content)]));
    await begin();
  });
  afterAll(async () => {
    for (const close of closers.reverse()) await close();
  });

  const TERMS = {
    workflowBundle: process.env.EVERTHREAD_TEST_BUNDLE as string,
    configuration: { modelHeartbeatMs: 30_000, toolHeartbeatMs: 30_000, modelGraceMs: 0 },
  };
  const say = (thread: string, content: string) => conversation(client).say(thread, content);

  async function contents(thread: string) {
    const messages = await conversation(client).messages(thread);
    return messages.filter(({ role }) => role === 'user').map(({ content }) => content?.slice(0, 8).trim());
  }

  it('are processed in order, in batches or alone', async () => {
    const thread = threadOf('ordered');
    await eventually('all to be stored', async () => (await contents(thread)).length === sent.length);
    await client.waitForIdle(thread);
    expect(await contents(thread)).toEqual(sent);
    await say(thread, 'are you well?');
    expect((await conversation(client).transcript(thread)).at(-1)).toBe('assistant: echo are you well?');
    await replayRun(client, thread);
  });

  it('are not overtaken by a stop, nor a stop by a message before it', async () => {
    const thread = threadOf('stopped');
    await eventually('the stop', async () => (await client.getThread(thread)).status === 'stopped');
    await client.waitForIdle(thread);
    expect((await client.getThread(thread)).status).toBe('stopped');
    await say(thread, 'go on');
    const messages = await conversation(client).messages(thread);
    expect(messages.filter(({ role }) => role === 'user')).toHaveLength(LARGE + 1);
  });

  it('are written to the store in limited batches, and the history replays', async () => {
    const thread = threadOf('many');
    await eventually('all to be stored', async () => (await contents(thread)).length === MANY.length + 1);
    await client.waitForIdle(thread);
    expect(new Set(await contents(thread))).toEqual(new Set(['first', ...MANY]));
    // A batch has room for more, but the first script has not read more.
    const [first] = await inputsOf<{ readonly items: readonly unknown[] }>(client, thread, 'stashItems');
    expect(first?.items.length).toBeGreaterThan(LIMITS.stashItems / 2);
    expect(first?.items.length).toBeLessThan(LIMITS.stashItems);
    await replayRun(client, thread);
  });

  it('do not prevent the end of a thread', async () => {
    const thread = threadOf('ended');
    await eventually('its end', async () => (await client.getThread(thread)).status === 'terminated');
  });

  it('that are refused cause at most fifty events, and are counted in the log', async () => {
    const thread = threadOf('refused');
    await say(thread, 'hello');
    const events = await store.events.read(thread, 0, 10_000);
    expect(events.filter((event) => event.type === 'item.rejected')).toHaveLength(LIMITS.rejections);
  });
});
