/** A policy written by an author judges besides the rules: never milder than a rule, and in place of the default. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { PolicyDefinition } from '../../src/core/author/policy.ts';
import { type AgentInput, definePolicy, defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { testRuntime } from '../support/runtime.ts';

interface Case {
  readonly policy?: Exclude<AgentInput['policy'], undefined>;
  readonly evaluate: PolicyDefinition['evaluate'];
  readonly capabilities?: string[];
  readonly by?: 'tool';
}

/** A thread whose model pays once, or whose tool does. */
async function paying({ policy = {}, evaluate, capabilities = ['money.move'], by }: Case) {
  const paid: number[] = [];
  const pay = defineTool({
    description: 'pays',
    args: z.object({ cents: z.number().default(500) }),
    capabilities,
    execute: async (_state, { cents }) => {
      paid.push(cents);
      return { status: 'success', result: 'paid' };
    },
  });
  const shop = defineTool({
    description: 'shops',
    execute: async (state) => state.invokeTool('pay', {}),
  });
  const model = scriptedModel([calls(by ? 'shop' : 'pay', {}), says('done')]);
  const runtime = await testRuntime({
    model,
    tools: { pay, shop },
    policies: { guard: definePolicy({ evaluate }) },
    agent: { policy: { undeclared: 'allow', ...policy, evaluate: 'guard' } },
  });
  const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
  const record = await runtime.client.waitForIdle(threadId);
  const actions = await runtime.client.listActions({ threadId });
  return { runtime, threadId, record, paid, model, action: actions.find(({ name }) => name === 'pay') };
}

describe('a policy in agents/policies', () => {
  it('[PL-05] gets the prepared action, the verdict of the rules and the caller, all frozen, and gives a reason for a denial', async () => {
    const seen: unknown[] = [];
    const { threadId, paid, action, model } = await paying({
      evaluate: async (call, decision, context) => {
        const { signal, ...place } = context;
        seen.push(structuredClone({ call, decision, place }), Object.isFrozen(call), signal.aborted);
        return { effect: 'deny', reason: 'Not on Sundays' };
      },
    });
    expect(seen).toEqual([
      {
        call: expect.objectContaining({
          id: `${threadId}:1:0`,
          kind: 'tool.call',
          name: 'pay',
          capabilities: ['money.move'],
          arguments: { cents: 500 },
          fingerprint: action?.fingerprint,
        }),
        decision: expect.objectContaining({ effect: 'allow', sources: { 'money.move': 'policy_default' } }),
        place: { threadId, agent: 'helper', userId: null, executionId: expect.any(String), context: null },
      },
      true,
      false,
    ]);
    expect(paid).toEqual([]);
    expect(action).toMatchObject({
      state: 'denied',
      decision: { effect: 'deny', policy: 'guard', matchedCapabilities: ['money.move'] },
    });
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('Not on Sundays');
  });

  it.each([
    ['a denial of the rules, and is not asked', { rules: { 'money.*': 'deny' } }, 'denied'],
    ['an approval that a rule requires', { rules: { 'money.*': 'require_approval' } }, 'requested'],
  ] as const)('[PL-05] cannot weaken %s', async (_, policy, state) => {
    let asked = 0;
    const run = await paying({
      policy,
      evaluate: () => {
        asked += 1;
        return 'allow';
      },
    });
    expect(run.action?.state).toBe(state);
    expect(run.paid).toEqual([]);
    expect(asked).toBe(state === 'denied' ? 0 : 1);
    if (state === 'denied') return;
    const [wait] = await run.runtime.client.listWaits({ threadId: run.threadId });
    await run.runtime.client.answerWait(wait?.id ?? '', { approved: true });
    await run.runtime.client.waitForIdle(run.threadId);
    expect(run.paid).toEqual([500]);
  });

  it.each([
    ['what no rule covers, against the default', { default: 'deny' }, ['money.move']],
    ['what declares nothing, against the default', { undeclared: 'deny' }, []],
  ] as const)('[PL-05] decides over %s', async (_, policy, capabilities) => {
    const run = await paying({
      policy,
      capabilities: [...capabilities],
      evaluate: ({ name }) => (name === 'pay' ? 'allow' : undefined),
    });
    expect(run.paid).toEqual([500]);
  });

  it('[PL-05] leaves undecided actions to the rules and their default', async () => {
    const run = await paying({ policy: { default: 'deny' }, evaluate: () => undefined });
    expect(run.action).toMatchObject({ state: 'denied', decision: { effect: 'deny' } });
    expect(run.paid).toEqual([]);
  });

  it.each<[string, PolicyDefinition['evaluate'], string]>([
    ['throws', () => Promise.reject(new Error('no ledger')), 'could not judge it: no ledger'],
    ['answers nonsense', () => 'maybe' as 'allow', 'returned an invalid decision'],
  ])('fails closed if it %s', async (_, evaluate, reason) => {
    const run = await paying({ evaluate });
    expect(run.paid).toEqual([]);
    expect(run.action).toMatchObject({
      state: 'denied',
      denied: { reason: expect.stringContaining(reason) },
    });
  });

  it('judges tools invoked by tools as well', async () => {
    const run = await paying({
      by: 'tool',
      evaluate: ({ name }) => (name === 'pay' ? 'deny' : undefined),
    });
    expect(run.paid).toEqual([]);
    expect(run.action?.state).toBe('denied');
  });
});
