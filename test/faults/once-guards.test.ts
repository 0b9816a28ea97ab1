/**
 * Two guards keep a tool that may not be tried again from beginning twice: Temporal tries its activity once, and the store lets its
 * body begin once. Either alone is enough, which is why each is looked at here by itself, and both by what comes of it.
 */
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { testRuntime, testStore } from '../support/runtime.ts';

/** A tool has done its work, and its result cannot be stored: to Temporal its activity has failed. */
async function loseResult(idempotent: boolean) {
  const store = await testStore();
  const commitTool = store.toolCalls.commit.bind(store);
  let lost = false;
  Object.assign(store, {
    toolCalls: {
      ...store.toolCalls,
      commit(...given: Parameters<typeof commitTool>) {
        if (lost) return commitTool(...given);
        lost = true;
        return Promise.reject(new Error('the result is lost'));
      },
    },
  });
  let begun = 0;
  const count = defineTool({
    description: 'counts',
    idempotent,
    execute: () => ({ status: 'success', result: String(++begun) }),
  });
  const model = scriptedModel([calls('count'), says('counted')]);
  const runtime = await testRuntime({ model, store, tools: { count } });
  const thread = await runtime.start('count');
  const { events } = await runtime.client.temporal.workflow.getHandle(`thread/${thread}`).fetchHistory();
  const scheduled = events?.map((event) => event.activityTaskScheduledEventAttributes);
  const activity = scheduled?.find((attributes) => attributes?.activityType?.name === 'runTool');
  const result = (await runtime.transcript(thread)).find((line) => line.startsWith('tool'));
  return { begun, attempts: activity?.retryPolicy?.maximumAttempts, result };
}

describe('a tool whose result is lost', () => {
  it('begins once where it may not be tried again, and Temporal is not asked to try', async () => {
    const { begun, attempts, result } = await loseResult(false);
    expect(begun).toBe(1);
    expect(result).toMatch(/^tool count error: .*outcome of this call is unknown/);
    expect(attempts).toBe(1);
  });

  it('begins again where it says that it may be tried again', async () => {
    const { begun, result } = await loseResult(true);
    expect([begun, result]).toEqual([2, 'tool count success: 2']);
  });
});
