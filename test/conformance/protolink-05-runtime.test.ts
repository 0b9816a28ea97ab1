/** Time limits of budgets on the engine: what runs when the time is up is cut off; waiting for people costs none. */
import { describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, hangs, scriptedModel } from '../../src/testing/index.ts';
import { testRuntime } from '../support/runtime.ts';

const denied = { status: 'failed', lastError: { code: 'BudgetExceeded' } };

describe('a budget of time', () => {
  it('[PL-17] aborts a request that a model does not answer', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([hangs({ after: 'I think' })]),
      agent: { budget: { maxRuntimeSeconds: 1 } },
    });
    const thread = await runtime.start('hello');
    expect(await runtime.client.getThread(thread)).toMatchObject(denied);
    const log = await runtime.store.events.read(thread, 0, 10_000);
    expect(eventsOf(log, 'budget.exceeded').map(({ data }) => data.limit)).toEqual(['maxRuntimeSeconds']);
    expect(eventsOf(log, 'model.called')).toHaveLength(1);
  });

  it.each([
    ['quick', true],
    ['slow', false],
  ])('[PL-17] aborts a %s tool, signals it, and stores an error as its result', async (_, quick) => {
    let aborted = false;
    const stuck = defineTool({
      description: 'never ends',
      quick: quick as boolean,
      execute: (state) =>
        new Promise(() => {
          state.execution?.abortSignal.addEventListener('abort', () => {
            aborted = true;
          });
        }),
    });
    const runtime = await testRuntime({
      model: scriptedModel([calls('stuck')]),
      tools: { stuck },
      agent: { budget: { maxRuntimeSeconds: 1 } },
    });
    const thread = await runtime.start('hello');
    expect(await runtime.client.getThread(thread)).toMatchObject(denied);
    expect(aborted).toBe(true);
    expect((await runtime.transcript(thread)).at(-1)).toMatch(/^tool stuck error: .*"stuck" was cut off/);
    expect((await runtime.messages(thread)).at(-1)?.metadata).toMatchObject({ error_code: 'BudgetExceeded' });
  });
});
