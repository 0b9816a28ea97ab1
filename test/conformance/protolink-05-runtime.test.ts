/** Time limits of budgets on the engine: what runs when the time is up is cut off; waiting for people costs none. */
import { describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, hangs, scriptedModel } from '../../src/testing/index.ts';
import { type TestRuntime, testRuntime } from '../support/runtime.ts';

/**
 * Plays a turn whose time is up after a second, or later where this machine needs longer to begin what is to be cut
 * off.
 */
async function cutOff(
  play: (maxRuntimeSeconds: number) => Promise<TestRuntime>,
  hasBegun: () => boolean,
): Promise<{ readonly runtime: TestRuntime; readonly thread: string }> {
  for (let seconds = 1; ; seconds *= 2) {
    const runtime = await play(seconds);
    const thread = await runtime.start('hello');
    if (hasBegun() || seconds > 60) return { runtime, thread };
  }
}

const denied = { status: 'failed', lastError: { code: 'BudgetExceeded' } };

describe('a budget of time', () => {
  it('[PL-17] aborts a request that a model does not answer', async () => {
    const model = scriptedModel(() => hangs({ after: 'I think' }));
    const { runtime, thread } = await cutOff(
      (maxRuntimeSeconds) => testRuntime({ model, agent: { budget: { maxRuntimeSeconds } } }),
      () => model.requests.length > 0,
    );
    expect(await runtime.client.getThread(thread)).toMatchObject(denied);
    const log = await runtime.store.events.read(thread, 0, 10_000);
    expect(eventsOf(log, 'budget.exceeded').map(({ data }) => data.limit)).toEqual(['maxRuntimeSeconds']);
    expect(eventsOf(log, 'model.called')).toHaveLength(1);
  });

  it.each([
    ['quick', true],
    ['slow', false],
  ])('[PL-17] aborts a %s tool, signals it, and stores an error as its result', async (_, quick) => {
    let begun = false;
    let aborted = false;
    const stuck = defineTool({
      description: 'never ends',
      quick: quick as boolean,
      execute: (state) =>
        new Promise(() => {
          begun = true;
          state.execution?.abortSignal.addEventListener('abort', () => {
            aborted = true;
          });
        }),
    });
    const model = scriptedModel(() => calls('stuck'));
    const { runtime, thread } = await cutOff(
      (maxRuntimeSeconds) =>
        testRuntime({ model, tools: { stuck }, agent: { budget: { maxRuntimeSeconds } } }),
      () => begun,
    );
    expect(await runtime.client.getThread(thread)).toMatchObject(denied);
    expect(aborted).toBe(true);
    expect((await runtime.transcript(thread)).at(-1)).toMatch(/^tool stuck error: .*"stuck" was cut off/);
    expect((await runtime.messages(thread)).at(-1)?.metadata).toMatchObject({ error_code: 'BudgetExceeded' });
  });
});
