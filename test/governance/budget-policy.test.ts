/** A budget policy written by an author judges spending in addition to the limits: it can be stricter, never milder. */
import { describe, expect, it } from '@jest/globals';
import type { PolicyDefinition } from '../../src/core/author/policy.ts';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import type { BudgetInput } from '../../src/definitions/budget-input.ts';
import {
  type AgentInput,
  defineAgent,
  definePolicy,
  defineTool,
  registryFrom,
} from '../../src/definitions/index.ts';
import { calls, type ScriptStep, says, scriptedModel } from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import { testRuntime } from '../support/runtime.ts';

type Judge = NonNullable<PolicyDefinition['evaluateBudget']>;

interface Case {
  readonly evaluateBudget: Judge;
  readonly script: readonly ScriptStep[];
  readonly budget?: BudgetInput;
  readonly quick?: boolean;
  readonly guards?: AgentInput['guards'];
}

const denied = { status: 'failed', lastError: { code: 'BudgetExceeded' } };
const WIDE = { maxSteps: 50, maxOutputTokens: 1000 };

async function spending({ evaluateBudget, script, budget = WIDE, quick = false, guards }: Case) {
  const ran: string[] = [];
  const look = defineTool({
    description: 'looks',
    quick,
    execute: () => {
      ran.push('look');
      return { status: 'success', result: 'seen' };
    },
  });
  const shop = defineTool({
    description: 'shops',
    execute: async (state) => {
      const { error_code: code } = await state.invokeTool('look', {});
      return { status: 'success', result: String(code) };
    },
  });
  const model = scriptedModel(script);
  const runtime = await testRuntime({
    model,
    tools: { look, shop },
    policies: { thrift: definePolicy({ evaluateBudget }) },
    agent: { budget: { ...budget, evaluate: 'thrift' }, ...(guards && { guards }) },
  });
  const { client, store } = runtime;
  const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
  const rest = async (status: string) => {
    await eventually(status, async () => (await client.waitForIdle(threadId)).status === status);
    return client.getThread(threadId);
  };
  const log = () => store.events.read(threadId, 0, 10_000);
  return { ...runtime, threadId, model, ran, rest, log };
}

describe('a budget policy', () => {
  it('[PL-17] gets the planned spending, the balance and the verdict of the limits; undefined continues', async () => {
    const seen: unknown[] = [];
    const run = await spending({
      evaluateBudget: async (spent, decision, { signal, ...place }) => {
        seen.push(structuredClone({ spent, decision, place }), Object.isFrozen(spent.budget), signal.aborted);
        return undefined;
      },
      script: [calls('look'), says('done')],
      budget: { maxLlmCalls: 2, maxToolCalls: 9 },
    });
    expect(await run.rest('idle')).toMatchObject({ lastError: null });
    const lines = (used: number) => [
      expect.objectContaining({ limit: 'maxLlmCalls', max: 2, used }),
      expect.objectContaining({ limit: 'maxToolCalls', max: 9, used: 0 }),
    ];
    expect(seen.filter((_, index) => index % 3 === 0)).toMatchObject([
      {
        spent: { kind: 'model.call', spends: { maxLlmCalls: 1, maxOutputTokens: 1 }, budget: lines(0) },
        decision: 'allow',
        place: { threadId: run.threadId, agent: 'helper', userId: null, context: null },
      },
      { spent: { kind: 'tool.call', name: 'look', spends: { maxToolCalls: 1 } }, decision: 'allow' },
      { spent: { kind: 'model.call' }, decision: 'warn' },
    ]);
    expect(seen.slice(1, 3)).toEqual([true, false]);
  });

  it('[PL-17] denies a request before it is sent, with the reason', async () => {
    const run = await spending({
      evaluateBudget: ({ kind }) =>
        kind === 'model.call'
          ? { effect: 'deny', reason: 'Not on Sundays', limit: 'maxOutputTokens' }
          : undefined,
      script: [],
    });
    expect(await run.rest('failed')).toMatchObject({
      lastError: { code: 'BudgetExceeded', message: 'Not on Sundays.' },
    });
    expect(run.model.requests).toEqual([]);
    expect(eventsOf(await run.log(), 'budget.exceeded').map(({ data }) => data)).toMatchObject([
      { limit: 'maxOutputTokens', max: 1000, observed: 0, policy: 'thrift', reason: 'Not on Sundays' },
    ]);
  });

  it.each([
    ['quick', 'look', true],
    ['slow', 'look', false],
    ['invoked', 'shop', false],
  ])('[PL-17] denies a %s call before it starts', async (_, tool, quick) => {
    const run = await spending({
      evaluateBudget: ({ name }) => (name === 'look' ? 'deny' : 'allow'),
      script: [calls(tool as string)],
      quick: quick as boolean,
    });
    expect(await run.rest('failed')).toMatchObject(denied);
    expect(run.ran).toEqual([]);
    expect((await run.transcript(run.threadId)).at(-1)).toContain('BudgetExceeded');
  });

  it('[PL-18] warns once of each limit, and everything continues', async () => {
    const run = await spending({
      evaluateBudget: ({ kind }) => ({
        effect: 'warn',
        limit: kind === 'model.call' ? 'maxOutputTokens' : 'maxSteps',
      }),
      script: [calls('look'), calls('look'), says('done')],
    });
    expect(await run.rest('idle')).toMatchObject({ lastError: null });
    expect(eventsOf(await run.log(), 'budget.warning').map(({ data }) => [data.limit, data.policy])).toEqual([
      ['maxOutputTokens', 'thrift'],
      ['maxSteps', 'thrift'],
    ]);
  });

  it('[PL-17] requests an approval before a request is sent, once for each reason, and continues when approved', async () => {
    const run = await spending({
      evaluateBudget: ({ kind }) =>
        kind === 'model.call' ? { effect: 'ask', reason: 'Each costs' } : undefined,
      script: [calls('look'), says('done')],
    });
    await run.rest('waiting');
    expect(run.model.requests).toEqual([]);
    const [wait] = await run.client.listWaits({ threadId: run.threadId });
    expect(wait).toMatchObject({ kind: 'approval', summary: 'Each costs', data: { policy: 'thrift' } });
    expect(await run.client.answerWait(wait?.id ?? '', { approved: true })).toEqual({ outcome: 'taken' });
    expect(await run.rest('idle')).toMatchObject({ lastError: null });
    expect((await run.transcript(run.threadId)).at(-1)).toBe('assistant: done');
    expect(eventsOf(await run.log(), 'wait.opened')).toHaveLength(1);
    expect(await run.store.waits.listForgotten(-1000)).not.toContainEqual(
      expect.objectContaining({ threadId: run.threadId }),
    );
  });

  it('[PL-17] sends no request that is denied', async () => {
    const run = await spending({ evaluateBudget: () => 'ask', script: [] });
    await run.rest('waiting');
    const [wait] = await run.client.listWaits({ threadId: run.threadId });
    await run.client.answerWait(wait?.id ?? '', { approved: false, reason: 'too dear' });
    expect(await run.rest('failed')).toMatchObject({
      lastError: { code: 'BudgetExceeded', message: expect.stringContaining('(too dear)') },
    });
    expect(run.model.requests).toEqual([]);
  });

  it('[PL-17] requests an approval before a call starts, as a policy of actions does', async () => {
    const run = await spending({
      evaluateBudget: ({ kind }) =>
        kind === 'tool.call' ? { effect: 'ask', reason: 'Each look costs' } : 'allow',
      script: [calls('look'), says('done')],
    });
    await run.rest('waiting');
    const [wait] = await run.client.listWaits({ threadId: run.threadId });
    expect(wait).toMatchObject({ name: 'look', data: { reason: 'Each look costs' } });
    expect(run.ran).toEqual([]);
    await run.client.answerWait(wait?.id ?? '', { approved: true });
    await run.rest('idle');
    expect(run.ran).toEqual(['look']);
  });

  it('[PL-17] is not called if a limit denies', async () => {
    let asked = 0;
    const run = await spending({
      evaluateBudget: () => {
        asked += 1;
        return 'allow';
      },
      script: [],
      budget: { maxLlmCalls: 0 },
    });
    expect(await run.rest('failed')).toMatchObject(denied);
    expect([asked, run.model.requests]).toEqual([0, []]);
  });

  it.each<[string, Judge]>([
    ['throws', () => Promise.reject(new Error('no ledger'))],
    ['answers nonsense', () => 'maybe' as 'allow'],
  ])('fails closed if it %s', async (_, evaluateBudget) => {
    const run = await spending({ evaluateBudget, script: [] });
    expect(await run.rest('failed')).toMatchObject(denied);
    expect(run.model.requests).toEqual([]);
  });

  it('is recognised by its evaluateBudget', () => {
    const policies = { guard: definePolicy({ evaluate: () => 'allow' }) };
    const agents = [
      defineAgent({ name: 'helper', sideA: { prompt: 'main' }, budget: { maxSteps: 1, evaluate: 'guard' } }),
    ];
    expect(() => registryFrom({ agents, prompts: [], models: [], policies })).toThrow(/budget\.evaluate/);
    expect(() => definePolicy({})).toThrow(/evaluateBudget/);
  });

  describe('a budget policy that requires a shorter request', () => {
    const COMPACT = { effect: 'compact', reason: 'The history is dear', limit: 'maxOutputTokens' } as const;
    const shown = ({ model }: Awaited<ReturnType<typeof spending>>) =>
      model.requests.map(({ messages }) => messages.filter(({ role }) => role !== 'system').length);
    /** Ten calls, then an answer: the eleventh request is judged. */
    const LONG = Array.from({ length: 10 }, () => calls('look'));
    const guards = { compaction: { thresholdMessages: 60, retainRecentMessages: 4 } };

    it('[PL-17] gets one: the history is summarised, and it judges the rest, once for a step', async () => {
      const asked: boolean[] = [];
      const run = await spending({
        evaluateBudget: ({ kind, mayCompact }) => {
          if (kind !== 'model.call') return undefined;
          asked.push(mayCompact);
          return asked.length > 10 ? COMPACT : undefined;
        },
        script: [...LONG, says('what was looked at'), says('done')],
        guards,
      });
      expect(await run.rest('idle')).toMatchObject({ lastError: null });
      expect(asked.slice(10)).toEqual([true, false]);
      expect(shown(run).slice(9)).toEqual([19, 1, 5]);
      const log = await run.log();
      expect(eventsOf(log, 'context.compacted')).toMatchObject([{ data: { reason: 'budget' } }]);
      expect(eventsOf(log, 'budget.warning')).toMatchObject([
        { data: { policy: 'thrift', reason: COMPACT.reason } },
      ]);
    });

    it.each([
      ['its agent asks for no compaction', { guards: undefined }],
      ['there is nothing that could be summarised', { guards }],
    ])('[PL-17] warns if %s', async (_, { guards }) => {
      const run = await spending({ evaluateBudget: () => COMPACT, script: [says('done')], guards });
      expect(await run.rest('idle')).toMatchObject({ lastError: null });
      const log = await run.log();
      expect(eventsOf(log, 'context.compacted')).toEqual([]);
      expect(eventsOf(log, 'budget.warning')).toHaveLength(1);
    });
  });
});
