import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from '../../src/index.ts';
import { testState } from '../../src/testing/index.ts';

const project = join(import.meta.dirname, 'project');

const remind = defineTool({
  description: 'Reminds of an order.',
  args: z.object({ id: z.string() }),
  execute: async (state, { id }) => {
    await state.setValue('order', id);
    await state.queueMessage({ role: 'assistant', content: `Think of ${id}.` });
    state.queueTool('find_order', { id });
    state.context.reminded = true;
    return {
      status: 'success',
      result: `${await state.env('SHOP_KEY')} ${state.arguments.customer} ${state.options.loud}`,
    };
  },
});

test('a single tool has a real state: store, variables, messages, and queued items', async () => {
  await using state = await testState({
    project,
    env: { SHOP_KEY: { value: 'k-1', type: 'text' } },
    arguments: { customer: 'Ada' },
    options: { loud: true },
  });
  expect(await remind.execute(state, { id: '4711' })).toEqual({ status: 'success', result: 'k-1 Ada true' });
  expect(await state.getValue('order')).toBe('4711');
  expect((await state.getMessages()).messages).toMatchObject([{ content: 'Think of 4711.' }]);
  expect(state.queuedTools).toEqual([{ name: 'find_order', arguments: { id: '4711' } }]);
  expect(state.context).toEqual({ reminded: true });
  expect(state).toMatchObject({ agentId: 'desk', idempotencyKey: `${state.threadId}:1:0` });
  expect(await state.invokeTool('find_order', { id: '4712' })).toMatchObject({ status: 'success' });
  expect(await state.invokeTool('find_order', {})).toMatchObject({ status: 'error' });
  state.abort(new Error('enough'));
  expect(() => state.execution?.throwIfCancelled()).toThrow('enough');
});

test('a state needs no project, names a missing tool, and ends with its store', async () => {
  const state = await testState();
  expect(() => state.queueTool('find_order', {})).toThrow('Tool not found: find_order');
  await expect(state.env('SHOP_KEY')).rejects.toMatchObject({ code: 'MissingVariable' });
  await state.writeFile('/notes.txt', 'x', 'text/plain');
  await state.close();
  await state.close();
  await expect(state.getMessages()).rejects.toThrow();
  await expect(testState({ project, tool: 'find_oder' })).rejects.toThrow("Did you mean 'find_order'?");
});
