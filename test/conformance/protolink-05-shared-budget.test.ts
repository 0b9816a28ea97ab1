/** Threads of a family that share what is left of a budget: they wait for one another; a settlement wakes them. */
import { describe, expect, it } from '@jest/globals';
import { SUBAGENT_CREATE } from '../../src/core/project/subagent.ts';
import { calls, callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { workflowOf } from '../support/operator.ts';
import { eventually, type TestRuntime } from '../support/runtime.ts';
import { childrenOf, create, familyRuntime, RESUMABLE, settled } from '../support/subagent-project.ts';

const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };

/** How many signals about settled budgets the thread's workflow has received. */
async function toldOf(runtime: TestRuntime, thread: string): Promise<number> {
  const events = (await workflowOf(runtime, thread).fetchHistory()).events ?? [];
  const payloads = events.flatMap(({ workflowExecutionSignaledEventAttributes: signal }) =>
    (signal?.input?.payloads ?? []).map(({ data }) => Buffer.from(data ?? []).toString()),
  );
  return payloads.filter((text) => text.includes('"settled":true')).length;
}

describe('a budget that a family shares', () => {
  it('[PL-20] a thread waiting for another one is woken at its end, and all are answered', async () => {
    const released = Promise.withResolvers<void>();
    let [children, holder] = [0, ''];
    const model = scriptedModel(async ({ messages: [first], ...request }, index) => {
      if (index === 0)
        return callsMany(
          [create('x'), create('y')].map((args) => ({ name: SUBAGENT_CREATE, args })),
          { usage },
        );
      const isChild = String(first?.content).startsWith('You are scout');
      if (children === 0) {
        holder = isChild ? 'child' : 'root';
        children += 1;
        expect(request.maxOutputTokens).toBe(99);
        await released.promise;
      }
      return isChild ? calls('finish', { text: 'done' }, { usage }) : says('heard', { usage });
    });
    const runtime = await familyRuntime({
      cast: { model, of: () => [] },
      entries: [{ name: 'scout', ...RESUMABLE, blocking: false }],
    });
    const { client, store } = runtime;
    const context = { budget: { maxOutputTokens: 100 } };
    const { threadId: root } = await client.startThread({
      agent: 'helper',
      messages: [{ content: 'go', context }],
    });
    await eventually('a request that holds all', async () => holder !== '');
    const family = async () => [root, ...(await childrenOf(runtime, root)).map(({ threadId }) => threadId)];
    const waiting = await eventually('the other two wait', async () => {
      const ids = await family();
      const lists = await Promise.all(ids.map((id) => store.budgets.listWaiting(id)));
      const found = [...new Set(lists.flat())];
      return found.length === 2 ? found : undefined;
    });
    released.resolve();
    await settled(runtime, root, 2);
    const told = await Promise.all(waiting.map((id) => toldOf(runtime, id)));
    expect(told.reduce((sum, each) => sum + each)).toBeGreaterThan(0);
  });
});
