import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calls, says, testAgent, testState } from 'everthread/testing';

test('the assistant calculates with its tool', async (t) => {
  const agent = await testAgent({
    script: [calls('calculate', { left: 6, operator: '*', right: 7 }), says('It is 42.')],
  });
  t.after(() => agent.close());
  const { content, toolCalls } = await agent.sendMessage('How much is 6 * 7?');
  assert.equal(content, 'It is 42.');
  assert.equal(toolCalls[0]?.result, '6 * 7 = 42');
});

test('the tool alone refuses to divide by zero', async (t) => {
  const state = await testState({ project: '.' });
  t.after(() => state.close());
  const { status, error } = await state.invokeTool('calculate', { left: 1, operator: '/', right: 0 });
  assert.equal(status, 'error');
  assert.match(error ?? '', /Division by zero/);
});
