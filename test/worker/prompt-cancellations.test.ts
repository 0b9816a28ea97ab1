/** How a stop reaches the work of its thread: at once on the thread's own worker, with a heartbeat on any other. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Registry } from '../../src/core/author/registry.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import { calls, hangs, type ScriptedModel, says, scriptedModel } from '../../src/testing/index.ts';
import { closeAfterTest, eventually, helperRegistry, testRuntime, testStore } from '../support/runtime.ts';

/** Heartbeat settings so long that no test waits for a heartbeat. */
const NO_HEARTBEATS = { modelHeartbeatMs: 3_600_000, toolHeartbeatMs: 3_600_000, stopWithinMs: 1_200_000 };

/** A registry whose model is served over HTTP, so that the provider's side shows when its answer is abandoned. */
async function served(model: ScriptedModel): Promise<Registry> {
  const { url, close } = await model.serve();
  closeAfterTest(close);
  const provider = openaiCompatible({ baseUrl: url, apiKey: 'none' });
  return helperRegistry({ model: { ...model, provider } });
}

function leftEarly({ connections }: ScriptedModel): Promise<unknown> {
  return eventually('the provider sees the connection closed', () =>
    connections.find(({ closedAt, completed }) => closedAt !== null && !completed),
  );
}

/** Milliseconds, just below the minute after which a worker learns of a stop in any case. */
const SOON_MS = 55_000;

describe('a stop', () => {
  it("reaches a model call on the thread's own worker without a heartbeat", async () => {
    const model = scriptedModel([hangs({ after: 'I was about' })]);
    const runtime = await testRuntime({ registry: await served(model), configuration: NO_HEARTBEATS });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await eventually('the model is asked', () => model.requests.length === 1);
    const asked = performance.now();
    await runtime.client.stop(threadId);
    await leftEarly(model);
    expect(performance.now() - asked).toBeLessThan(SOON_MS);
  });

  it("reaches a tool on the thread's own worker without a heartbeat", async () => {
    const [begun, aborted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const wait = defineTool({
      description: 'waits',
      execute: async (state) => {
        state.execution?.abortSignal.addEventListener('abort', () => aborted.resolve());
        begun.resolve();
        await aborted.promise;
        return { status: 'success' };
      },
    });
    const model = scriptedModel([calls('wait')]);
    const runtime = await testRuntime({ model, tools: { wait }, configuration: NO_HEARTBEATS });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await begun.promise;
    const asked = performance.now();
    await runtime.client.stop(threadId);
    await aborted.promise;
    expect(performance.now() - asked).toBeLessThan(SOON_MS);
  });

  it('reaches a model call on another worker with its next heartbeat', async () => {
    const place = { store: await testStore(), taskQueue: `test-${randomUUID()}` };
    const busy = scriptedModel([says('hello'), hangs()]);
    const own = await testRuntime({
      ...place,
      model: busy,
      configuration: { ...NO_HEARTBEATS, maxConcurrentActivities: 1 },
    });
    const threadId = await own.start('hello');
    // The only slot for activities is occupied: this worker has the thread, and another one its model call.
    await own.client.startThread({ agent: 'helper', messages: [{ content: 'take the place' }] });
    await eventually('it is taken', () => busy.requests.length === 2);
    const model = scriptedModel([hangs({ after: 'I was about' })]);
    await testRuntime({
      ...place,
      registry: await served(model),
      configuration: { ...NO_HEARTBEATS, stopWithinMs: 250 },
    });
    await own.client.queueMessage(threadId, { content: 'go' });
    await eventually('the model is asked', () => model.requests.length === 1);
    await own.client.stop(threadId);
    await leftEarly(model);
  });
});
