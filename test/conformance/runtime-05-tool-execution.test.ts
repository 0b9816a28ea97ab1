/** runtime §5: order of tool calls, errors as results, function tools. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { testRuntime } from '../support/runtime.ts';

describe('runtime §5 Tool Execution', () => {
  it('[runtime 5.1] runs tool calls sequentially in the returned order', async () => {
    const trace: string[] = [];
    const step = (name: string, ms: number) =>
      defineTool({
        description: name,
        execute: async () => {
          trace.push(`${name} begins`);
          await new Promise((resolve) => setTimeout(resolve, ms));
          trace.push(`${name} ends`);
          return { status: 'success', result: name };
        },
      });
    const model = scriptedModel([callsMany([{ name: 'slow' }, { name: 'fast' }]), says('both done')]);
    const runtime = await testRuntime({ model, tools: { slow: step('slow', 100), fast: step('fast', 1) } });
    const thread = await runtime.start('go');
    expect(trace).toEqual(['slow begins', 'slow ends', 'fast begins', 'fast ends']);
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant:  -> slow, fast',
      'tool slow success: slow',
      'tool fast success: fast',
      'assistant: both done',
    ]);
  });

  it('[runtime 5.2] persists a tool error as a result and continues', async () => {
    const explode = defineTool({
      description: 'fails',
      execute: () => {
        throw new Error('boom');
      },
    });
    const model = scriptedModel([calls('explode', {}), says('noted')]);
    const runtime = await testRuntime({ model, tools: { explode } });
    const thread = await runtime.start('go');
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant:  -> explode',
      'tool explode error: Failed to execute tool: boom',
      'assistant: noted',
    ]);
  });

  it('[runtime 5.2] tells the model which arguments are invalid, and passes a tool parsed ones with defaults', async () => {
    const add = defineTool({
      description: 'adds',
      args: z.object({ a: z.number(), b: z.number().default(40) }),
      execute: async (_state, { a, b }) => ({ status: 'success', result: String(a + b) }),
    });
    const model = scriptedModel([calls('add', { a: 'two' }), calls('add', { a: 2 }), says('42')]);
    const runtime = await testRuntime({ model, tools: { add } });
    const thread = await runtime.start('go');
    const [, , refused, , answered] = await runtime.transcript(thread);
    expect(refused).toMatch(/^tool add error: .*\[a\]/);
    expect(answered).toBe('tool add success: 42');
  });
});
