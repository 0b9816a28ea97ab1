/** Approvals under a budget: none is asked for, by a call, code or a relative, that the budget cannot pay for. */
import { describe, expect, it } from '@jest/globals';
import { SUBAGENT_CREATE } from '../../src/core/project/subagent.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import { type TestRuntime, testRuntime } from '../support/runtime.ts';
import { cast, childrenOf, create, familyRuntime, heldTool, RESUMABLE } from '../support/subagent-project.ts';

const denied = { status: 'failed', lastError: { code: 'BudgetExceeded' } };
const policy = { 'money.*': 'require_approval' } as const;

function paying(quick: boolean) {
  const paid: string[] = [];
  const pay = defineTool({
    description: 'pays',
    capabilities: ['money.move'],
    quick,
    execute: async ({ threadId }) => {
      paid.push(threadId);
      return { status: 'success', result: 'paid' };
    },
  });
  return { paid, pay };
}

const kinds = async ({ store }: TestRuntime, thread: string) =>
  (await store.events.read(thread, 0))
    .map(({ type }) => type)
    .filter((type) => /^(wait|budget)\./.test(type) || type === 'tool.started');

describe('an approval under a budget', () => {
  it.each([
    ['quick', true],
    ['slow', false],
  ])(
    '[PL-17] is not requested if a %s call could never start: the execution ends first',
    async (_, quick) => {
      const { paid, pay } = paying(quick as boolean);
      const runtime = await testRuntime({
        model: scriptedModel([calls('pay')]),
        tools: { pay },
        agent: { policy, budget: { maxToolCalls: 0 } },
      });
      const thread = await runtime.start('go');
      expect(await runtime.client.getThread(thread)).toMatchObject(denied);
      expect(await kinds(runtime, thread)).toEqual(['budget.exceeded']);
      expect((await runtime.transcript(thread)).at(-1)).toMatch(/^tool pay error.*BudgetExceeded/);
      expect(paid).toEqual([]);
    },
  );

  it('[PL-17] is requested while the budget suffices, and not for the next call, for which it does not', async () => {
    const { paid, pay } = paying(false);
    const runtime = await testRuntime({
      model: scriptedModel([callsMany([{ name: 'pay' }, { name: 'pay' }])]),
      tools: { pay },
      agent: { policy, budget: { maxToolCalls: 1 } },
    });
    const { client } = runtime;
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    expect(await client.waitForIdle(threadId)).toMatchObject({ status: 'waiting' });
    const [wait] = await client.listWaits({ threadId });
    await client.answerWait(wait?.id ?? '', { approved: true });
    await client.waitForIdle(threadId);
    expect(await client.getThread(threadId)).toMatchObject(denied);
    expect(paid).toHaveLength(1);
    const told = await kinds(runtime, threadId);
    expect(told.filter((type) => type === 'wait.opened')).toHaveLength(1);
  });

  it('[PL-17] is not requested for a tool invoked by a tool either', async () => {
    const { paid, pay } = paying(false);
    const heard: unknown[] = [];
    const shop = defineTool({
      description: 'shops',
      execute: async (state) => {
        heard.push((await state.invokeTool('pay', {})).error_code);
        return { status: 'success', result: 'shopped' };
      },
    });
    const runtime = await testRuntime({
      model: scriptedModel([calls('shop')]),
      tools: { pay, shop },
      agent: { policy, budget: { maxToolCalls: 1 } },
    });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject(denied);
    expect(heard).toEqual(['BudgetExceeded']);
    expect(await runtime.client.listWaits({ threadId: thread })).toEqual([]);
    expect(paid).toEqual([]);
  });

  it('[PL-17] is closed when a relative exhausts the shared budget, and its thread ends as that one does', async () => {
    const { paid, pay } = paying(false);
    const { wait: look, release } = heldTool();
    const actors = cast({
      main: (request) =>
        request.messages.some(({ role }) => role === 'tool')
          ? says('heard')
          : callsMany(['pay', 'look'].map((word) => ({ name: SUBAGENT_CREATE, args: create(word) }))),
      scout_a: ({ messages }) => calls(JSON.stringify(messages).includes('pay') ? 'pay' : 'look'),
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: [{ name: 'scout', ...RESUMABLE, blocking: false }],
      agents: { scout: { policy } },
      tools: { pay, look },
      prompts: { scout_a: { includeChat: true, includePastTools: true, tools: ['pay', 'look'] } },
    });
    const { client, store } = runtime;
    const context = { budget: { maxSteps: 4 } };
    const { threadId: root } = await client.startThread({
      agent: 'helper',
      messages: [{ content: 'go', context }],
    });
    const wait = await eventually('an approval is asked for, and four steps are spent', async () => {
      const [line] = await store.budgets.read(root);
      return line?.used === 4 && (await client.listWaits({ threadId: root }))[0];
    });
    release();
    await eventually('it is closed', async () => (await client.getWait(wait.id)).state === 'closed');
    const asking = wait.threadId;
    await client.waitForIdle(asking);
    expect(await client.getThread(asking)).toMatchObject(denied);
    expect(paid).toEqual([]);
    expect(await kinds(runtime, asking)).toEqual(['wait.opened', 'budget.exceeded', 'wait.closed']);
    expect((await runtime.transcript(asking)).at(-1)).toMatch(/^tool pay error.*BudgetExceeded/);
    for (const { threadId } of await childrenOf(runtime, root))
      expect(await client.getThread(threadId)).toMatchObject(denied);
  });
});
