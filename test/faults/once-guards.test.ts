/**
 * Two guards keep a tool that must not be retried from starting twice: Temporal attempts its activity once, and the
 * store lets its body begin once. Either alone is enough, so each is tested separately, by its effect.
 */
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { testRuntime, testStore } from '../support/runtime.ts';

type Commit = ThreadStore['toolCalls']['commit'];

/** Runs a tool that does its work, and whose result the store refuses if `isLost` returns true. */
async function loseResult(idempotent: boolean, isLost: (command: Parameters<Commit>[0]) => boolean) {
  const store = await testStore();
  const commitTool: Commit = store.toolCalls.commit.bind(store);
  const commit: Commit = async (command) => {
    if (isLost(command)) throw new Error('the result is lost');
    return commitTool(command);
  };
  Object.assign(store, { toolCalls: { ...store.toolCalls, commit } });
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

/** The store refuses every result of the first attempt, so that its activity fails for Temporal. */
function ofFirstAttempt(): Parameters<typeof loseResult>[1] {
  let first: string | undefined;
  return ({ attempt }) => {
    first ??= attempt;
    return attempt === first;
  };
}

describe('a tool whose result is lost', () => {
  it('starts once if it is not idempotent, and Temporal is not asked to retry', async () => {
    const { begun, attempts, result } = await loseResult(false, ofFirstAttempt());
    expect(begun).toBe(1);
    expect(result).toMatch(/^tool count error: .*outcome of this call is unknown/);
    expect(attempts).toBe(1);
  });

  it('starts again if it is idempotent', async () => {
    const { begun, result } = await loseResult(true, ofFirstAttempt());
    expect([begun, result]).toEqual([2, 'tool count success: 2']);
  });

  for (const idempotent of [false, true])
    it(`[runtime 5.2] a result that the store refuses is reported as lost, and ${idempotent ? 'an idempotent' : 'the'} body runs once`, async () => {
      const { begun, result } = await loseResult(idempotent, ({ result }) => result?.status === 'success');
      expect([begun, result]).toEqual([
        1,
        'tool count error: Failed to execute tool: Fault: The call was answered, but its answer could not be stored: the result is lost',
      ]);
    });
});
