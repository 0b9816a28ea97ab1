/** How a budget counts, on the engine, calls that code makes and calls that never begin. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { testRuntime } from '../support/runtime.ts';
import { toolOf } from '../support/tool-work.ts';

const denied = { status: 'failed', lastError: { code: 'BudgetExceeded' } };

describe('calls counted by a budget', () => {
  it.each([
    ['quick', true],
    ['slow', false],
  ])('[PL-17] a %s call with invalid arguments costs nothing', async (_, quick) => {
    const look = defineTool({
      description: 'looks',
      quick: quick as boolean,
      args: z.object({ id: z.string() }),
      execute: async () => ({ status: 'success', result: 'seen' }),
    });
    const runtime = await testRuntime({
      model: scriptedModel([calls('look', { id: 1 }), calls('look', { id: 'a' }), says('done')]),
      tools: { look },
      agent: { budget: { maxToolCalls: 1 } },
    });
    const thread = await runtime.start('hello');
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: done');
    expect(await runtime.client.getBudget(thread)).toMatchObject([{ limit: 'maxToolCalls', used: 1 }]);
  });

  it('[PL-17] a tool invoked by a tool is a call, and one above the limit is refused and ends the execution', async () => {
    let ran = 0;
    const inner = toolOf(() => {
      ran += 1;
      return 'inner';
    });
    const outer = toolOf(async (state) => {
      const first = await state.invokeTool('inner', {});
      const second = await state.invokeTool('inner', {});
      return [first.status, second.error_code];
    });
    const runtime = await testRuntime({
      model: scriptedModel([calls('outer')]),
      tools: { inner, outer },
      agent: { budget: { maxToolCalls: 2 } },
    });
    const thread = await runtime.start('hello');
    expect(await runtime.client.getThread(thread)).toMatchObject(denied);
    expect(ran).toBe(1);
    expect((await runtime.transcript(thread)).at(-1)).toContain('["success","BudgetExceeded"]');
    const log = await runtime.store.events.read(thread, 0, 10_000);
    expect(eventsOf(log, 'budget.exceeded')).toHaveLength(1);
    expect(await runtime.client.getBudget(thread)).toMatchObject([{ limit: 'maxToolCalls', used: 2 }]);
  });
});
