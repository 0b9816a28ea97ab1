/**
 * More signals at once than one script of the workflow's context takes in: the rest follows in the next script, in order. The
 * large form of it is test/soak/signal-flood.soak.ts, and what it costs bench/activation.ts.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { LIMITS } from '../../src/core/value/limit.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { echo } from '../support/hostile.ts';
import { json, rawSignal } from '../support/raw-payload.ts';
import { replayRun } from '../support/replay-run.ts';
import { readRuns } from '../support/run-chain.ts';
import { eventually, testRuntime, testStore } from '../support/runtime.ts';

const CONTENT = 'x'.repeat(30_000);
/** Twice what one script reads, so that a part of it waits. */
const LARGE = Math.ceil((2 * LIMITS.scriptBytes) / CONTENT.length);

/** A thread at rest without a worker, and a worker to come. */
async function asleep(model = echo) {
  const store = await testStore();
  const taskQueue = `flood-${randomUUID()}`;
  const before = await testRuntime({ model: model(), store, taskQueue });
  const thread = await before.start();
  await before.stopWorker();
  const send = (name: string, content: unknown) => rawSignal(before.client, thread, name, [json(content)]);
  return { thread, send, wake: () => testRuntime({ model: model(), store, taskQueue }) };
}

/** What the markers of patches say in all runs of a thread. */
async function patches({ client }: Awaited<ReturnType<typeof testRuntime>>, thread: string): Promise<string> {
  const said: string[] = [];
  for (const { runId } of await readRuns(client, thread)) {
    const { events } = await client.temporal.workflow.getHandle(`thread/${thread}`, runId).fetchHistory();
    for (const { markerRecordedEventAttributes: marker } of events ?? [])
      for (const { payloads } of Object.values(marker?.details ?? {}))
        said.push(...(payloads ?? []).map(({ data }) => Buffer.from(data ?? []).toString()));
  }
  return said.join();
}

async function contents(runtime: Awaited<ReturnType<typeof testRuntime>>, thread: string) {
  const messages = await runtime.messages(thread);
  return messages.filter(({ role }) => role === 'user').map(({ content }) => content?.slice(0, 8).trim());
}

describe('signals beyond what one script takes in', () => {
  it('are taken in their order, batches and single ones alike', async () => {
    const { thread, send, wake } = await asleep();
    const sent: string[] = [];
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
    const runtime = await wake();
    await eventually(
      'all to be stored',
      async () => (await contents(runtime, thread)).length === sent.length,
    );
    await runtime.client.waitForIdle(thread);
    expect(await contents(runtime, thread)).toEqual(sent);
    // One script was not enough: what was beyond its part has waited, and the history says so.
    expect(await patches(runtime, thread)).toContain('spreads-a-flood');
    await runtime.say(thread, 'are you well?');
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: echo are you well?');
    await replayRun(runtime.client, thread);
  });

  it('are not overtaken by a stop, nor it by a message before it', async () => {
    const { thread, send, wake } = await asleep(() => scriptedModel(() => says('heard')));
    for (let index = 0; index < LARGE; index++) await send('queueMessage', { content: CONTENT });
    await send('stop', { reason: 'enough' });
    const runtime = await wake();
    await eventually('the stop', async () => (await runtime.client.getThread(thread)).status === 'stopped');
    await runtime.client.waitForIdle(thread);
    expect((await runtime.client.getThread(thread)).status).toBe('stopped');
    await runtime.say(thread, 'go on');
    const messages = await runtime.messages(thread);
    expect(messages.filter(({ role }) => role === 'user')).toHaveLength(LARGE + 1);
  });

  it('go to the store by batches of a bounded number, and the history replays', async () => {
    const { thread, send, wake } = await asleep();
    const count = LIMITS.stashItems + 200;
    const ids = Array.from({ length: count }, (_, index) => `m${index}`);
    await send('queueMessage', { content: 'first' });
    for (let from = 0; from < count; from += 50) {
      await Promise.all(ids.slice(from, from + 50).map((id) => send('queueMessage', { id, content: id })));
    }
    const runtime = await wake();
    await eventually('all to be stored', async () => (await contents(runtime, thread)).length === count + 1);
    await runtime.client.waitForIdle(thread);
    expect(new Set(await contents(runtime, thread))).toEqual(new Set(['first', ...ids]));
    await replayRun(runtime.client, thread);
  });

  it('do not keep a thread from being ended', async () => {
    const { thread, send, wake } = await asleep();
    for (let index = 0; index < LARGE; index++) await send('queueMessage', { content: CONTENT });
    await send('terminate', {});
    const runtime = await wake();
    await eventually('its end', async () => (await runtime.client.getThread(thread)).status === 'terminated');
  });

  it('that are refused are fifty events and no more at once, and counted in the log', async () => {
    const { thread, send, wake } = await asleep();
    await Promise.all(
      Array.from({ length: 3 * LIMITS.rejections }, (_, index) => send('queueMessage', { index })),
    );
    const runtime = await wake();
    await runtime.say(thread, 'hello');
    const events = await runtime.store.events.read(thread, 0, 10_000);
    expect(events.filter((event) => event.type === 'item.rejected')).toHaveLength(LIMITS.rejections);
  });
});
