/** A call of running code that needs an approval is refused and asked for: the next equal call passes once approved. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type AgentInput, defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { testRuntime } from '../support/runtime.ts';

const RULES = { 'money.*': 'require_approval' } as const;

/** A model that calls `shop` once per message, whose body invokes `pay`. */
async function shopping(times: number, policy: AgentInput['policy'] = RULES) {
  const paid: number[] = [];
  const heard: unknown[] = [];
  const pay = defineTool({
    description: 'pays',
    args: z.object({ cents: z.number() }),
    capabilities: ['money.move'],
    execute: async (_state, { cents }) => {
      paid.push(cents);
      return { status: 'success', result: 'paid' };
    },
  });
  const shop = defineTool({
    description: 'shops',
    execute: async (state) => {
      const { status, error } = await state.invokeTool('pay', { cents: 500 });
      heard.push(status === 'success' ? status : error);
      return { status: 'success', result: 'shopped' };
    },
  });
  const model = scriptedModel(Array.from({ length: times }, () => [calls('shop', {}), says('ok')]).flat());
  const runtime = await testRuntime({ model, tools: { pay, shop }, agent: { policy } });
  const { client } = runtime;
  const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
  const rest = async () => (await client.waitForIdle(threadId)).status;
  expect(await rest()).toBe('idle');
  const again = async () => {
    await client.queueMessage(threadId, { content: 'again' });
    expect(await rest()).toBe('idle');
  };
  const waits = () => client.listWaits({ threadId });
  return { client, threadId, paid, heard, again, waits };
}

describe('an approval for an action of code', () => {
  it('[PL-07] is requested once, blocks nothing, outlives the execution, and allows one call', async () => {
    const { client, threadId, paid, heard, again, waits } = await shopping(4);
    const [wait, ...others] = await waits();
    expect(wait).toMatchObject({
      kind: 'approval',
      name: 'pay',
      blocks: false,
      data: { arguments: { cents: 500 } },
    });
    expect(others).toEqual([]);
    expect(heard).toEqual([expect.stringContaining(`ApprovalRequired: "pay" was not done.`)]);
    expect(heard[0]).toContain(`Call it again once the wait ${wait?.id} is approved.`);
    await again();
    expect(await waits()).toHaveLength(1);
    expect(paid).toEqual([]);
    expect(await client.answerWait(wait?.id ?? '', { approved: true })).toEqual({ outcome: 'taken' });
    await again();
    expect(paid).toEqual([500]);
    await again();
    expect(paid).toEqual([500]);
    const [next] = await waits();
    expect(next?.id).not.toBe(wait?.id);
    const actions = await client.listActions({ threadId });
    const states = actions.filter(({ name }) => name === 'pay').map(({ state }) => state);
    expect(states.toSorted()).toEqual(['completed', 'denied', 'denied', 'denied']);
  });

  it('with the scope of the thread allows all of them', async () => {
    const { client, paid, again, waits } = await shopping(3);
    const [wait] = await waits();
    await client.answerWait(wait?.id ?? '', { approved: true, scope: 'thread' });
    await again();
    await again();
    expect(paid).toEqual([500, 500]);
    expect(await waits()).toEqual([]);
  });

  it('[PL-07] is not requested if the policy refuses approvals', async () => {
    const { paid, heard, waits } = await shopping(1, { rules: RULES, approvals: 'refuse' });
    expect(paid).toEqual([]);
    expect(heard).toEqual([expect.stringContaining('ApprovalRequired')]);
    expect(await waits()).toEqual([]);
  });
});
