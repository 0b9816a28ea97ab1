/**
 * Short commits have slots of their own: what arrives is stored, and a stop is settled, while models and tools have
 * taken every other slot of the only worker.
 */
import { expect, it } from '@jest/globals';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { begin, statusOf } from '../support/operator.ts';
import type { TestRuntime } from '../support/runtime.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

/** A worker with one slot, which a request to the model holds until it is released. */
async function withFullSlots(): Promise<{ runtime: TestRuntime; busy: string; release: () => void }> {
  const gate = Promise.withResolvers<void>();
  const model = scriptedModel(() => says('done'));
  let asked = 0;
  const probe = async (point: string) => {
    if (point !== 'model_answered' || ++asked > 1) return;
    await gate.promise;
  };
  const runtime = await testRuntime({ model, probe, configuration: { maxConcurrentActivities: 1 } });
  const busy = await begin(runtime, 'first');
  await eventually('the slot is taken', () => asked === 1);
  return { runtime, busy, release: gate.resolve };
}

it('stores a message that arrives while no slot is free', async () => {
  const { runtime, busy, release } = await withFullSlots();
  await runtime.client.temporal.workflow
    .getHandle(`thread/${busy}`)
    .signal('queueMessage', { role: 'user', content: 'second' });
  await eventually('the message is stored', async () => (await runtime.store.queue.count(busy)) === 1);
  release();
  await runtime.client.waitForIdle(busy);
  expect(await runtime.transcript(busy)).toEqual([
    ...['user: first', 'assistant: done', 'user: second', 'assistant: done'],
  ]);
});

it('opens a thread, and settles its stop, while no slot is free', async () => {
  const { runtime, busy, release } = await withFullSlots();
  const other = await begin(runtime, 'hello');
  await eventually('it has opened', async () => (await runtime.store.threads.get(other)) !== null);
  await runtime.client.stop(other, 'enough');
  await eventually('it has stopped', async () => (await statusOf(runtime, other)) === 'stopped');
  expect(await statusOf(runtime, busy)).toBe('running');
  release();
  await runtime.client.waitForIdle(busy);
});
