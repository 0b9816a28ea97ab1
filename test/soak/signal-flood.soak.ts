/**
 * As many signals as the server admits for one workflow run, at once: 10,000. A bystander thread works in the same
 * worker, and the flooded thread must take in all signals, continue, and remain terminable.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { json, type RawPayload, rawSignal } from '../support/raw-payload.ts';
import { replayRun } from '../support/replay-run.ts';
import { eventually, testRuntime, testStore } from '../support/runtime.ts';

const PATIENCE_MS = 20 * 60_000;
/** The server accepts 10,000 signals per run: this leaves room for the test's own message. */
const COUNT = 9_900;
const LIMIT = 10_000;
const SENDERS = 50;

type Make = (index: number) => readonly [name: string, ...payloads: RawPayload[]];

const FLOODS: Readonly<Record<string, Make>> = {
  'junk messages': (index) => ['queueMessage', json({ junk: index })],
  'signals of unknown names': (index) => [`__temporal_${index}`, json(index)],
  'wakes for effects at absurd times': (index) => ['wakeForEffects', json({ inMs: 1e300 - index })],
  'wakes for messages': (index) => ['wakeForMessages', json({ reportOf: `t${index}` })],
  'messages and stops by turns': (index) => (index % 2 ? ['stop'] : ['queueMessage', json({ junk: index })]),
  stops: (index) => ['stop', json({ reason: `${index}` })],
  'good messages': (index) => ['queueMessage', json({ id: `m${index}`, content: `m${index}` })],
};

const model = () => scriptedModel(() => says('heard'));

async function sendAll(send: (index: number) => Promise<unknown>, count = COUNT): Promise<void> {
  for (let from = 0; from < count; from += SENDERS) {
    await Promise.all(Array.from({ length: SENDERS }, (_, index) => send(from + index)));
  }
}

describe('10,000 signals at once', () => {
  it.each(Object.entries(FLOODS))('%s affect no other thread', async (name, make) => {
    const store = await testStore();
    const taskQueue = `flood-${randomUUID()}`;
    const before = await testRuntime({ model: model(), store, taskQueue });
    const [victim, bystander] = [await before.start(), await before.start()];
    await before.stopWorker();
    await sendAll((index) => {
      const [signal, ...payloads] = make(index);
      return rawSignal(before.client, victim, signal, payloads);
    });
    const runtime = await testRuntime({ model: model(), store, taskQueue });
    // Keeps the bystander busy during the flood.
    let over = false;
    const life = (async () => {
      for (let turn = 0; !over; turn++) {
        await runtime.client.queueMessage(bystander, { content: `turn ${turn}` });
        await runtime.client.waitForIdle(bystander, { timeoutMs: PATIENCE_MS });
      }
    })();
    await runtime.client.queueMessage(victim, { content: 'are you well?' });
    await eventually(
      'an answer',
      async () =>
        (await runtime.messages(victim)).some(({ content }) => content === 'are you well?') && isIdle(),
      PATIENCE_MS,
    );
    async function isIdle() {
      return (await runtime.client.getThread(victim)).status === 'idle';
    }
    over = true;
    await life;
    const users = (await runtime.messages(victim)).filter(({ role }) => role === 'user');
    expect(users).toHaveLength(name === 'good messages' ? COUNT + 1 : 1);
    expect((await runtime.client.getThread(bystander)).status).toBe('idle');
    for (const thread of [victim, bystander]) await replayRun(runtime.client, thread);
    await runtime.client.terminate(victim);
    await eventually(
      'its end',
      async () => (await runtime.client.getThread(victim)).status === 'terminated',
      PATIENCE_MS,
    );
  });

  it('during a step that never ends leave a thread that can be ended', async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const runtime = await testRuntime({ model: scriptedModel(() => gate.then(() => says('late'))) });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'wait' }],
    });
    await eventually(
      'the step',
      async () => (await runtime.store.threads.get(threadId))?.status === 'running',
    );
    const refused: unknown[] = [];
    const send = (index: number) =>
      rawSignal(runtime.client, threadId, `nothing ${index}`).catch((error) => refused.push(error));
    await sendAll(send, LIMIT);
    await rawSignal(runtime.client, threadId, 'nothing more').catch((error) => refused.push(error));
    expect(refused.length).toBeGreaterThan(0);
    await runtime.client.terminate(threadId, 'enough');
    await eventually(
      'its end',
      async () => (await runtime.client.getThread(threadId)).status === 'terminated',
    );
    release();
  });
});
