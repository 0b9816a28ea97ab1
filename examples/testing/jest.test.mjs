import { calls, says, testAgent } from 'everthread/testing';

let agent;
afterEach(() => agent.close());

// The first agent of a process may have to start a server.
test('the assistant calculates with its tool', async () => {
  agent = await testAgent({
    script: [calls('calculate', { left: 6, operator: '*', right: 7 }), says('It is 42.')],
  });
  const { content, toolCalls } = await agent.sendMessage('How much is 6 * 7?');
  expect(content).toBe('It is 42.');
  expect(toolCalls).toMatchObject([{ name: 'calculate', status: 'success', result: '6 * 7 = 42' }]);
}, 60_000);
