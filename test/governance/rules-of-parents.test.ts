/** A thread cannot delegate what it may not do: its policy narrows those of its subagents and of their subagents. */
import { describe, expect, it } from '@jest/globals';
import type { AgentInput } from '../../src/definitions/index.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, says } from '../../src/testing/index.ts';
import { type Answer, childProject, handsIn, hasResult, modelOf } from '../support/child-project.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

type Policy = AgentInput['policy'];

interface Policies {
  readonly helper?: Policy;
  readonly scribe?: Policy;
  readonly clerk?: Policy;
}

const NAMES = ['read', 'pay', 'ship', 'plain'];

/** The helper asks the scribe, which asks the clerk, which calls four tools. Returns what was done, and the results. */
async function threeGenerations({ helper, scribe, clerk }: Policies, context?: object) {
  const did: string[] = [];
  const define = (name: string, capabilities?: string[]) =>
    defineTool({
      description: name,
      ...(capabilities ? { capabilities } : {}),
      execute: async () => {
        did.push(name);
        return { status: 'success', result: name };
      },
    });
  const asks =
    (name: string): Answer =>
    (request) =>
      hasResult(request) ? handsIn('done') : calls(name);
  const model = modelOf({
    main: (request) => (hasResult(request) ? says('thanks') : calls('scribe')),
    scribe_desk: asks('clerk'),
    clerk_desk: (request) =>
      hasResult(request) ? handsIn('done') : callsMany(NAMES.map((name) => ({ name }))),
  });
  const own = (policy: Policy) => (policy === undefined ? {} : { agent: { policy } });
  const registry = childProject({
    model,
    tools: {
      read: define('read', ['records.read']),
      pay: define('pay', ['money.move']),
      ship: define('ship', ['goods.move']),
      plain: define('plain'),
    },
    entries: ['scribe'],
    children: {
      scribe: { ...own(scribe), desk: { tools: ['clerk'] } },
      clerk: { ...own(clerk), desk: { tools: NAMES } },
    },
    ...(helper === undefined ? {} : { policy: helper }),
  });
  const { client, store } = await testRuntime({ model, registry });
  const { threadId } = await client.startThread({
    agent: 'helper',
    messages: [{ content: 'go', ...(context ? { context } : {}) }],
  });
  const record = await client.waitForIdle(threadId);
  const childOf = (parent: string) =>
    eventually('a child', async () => (await store.children.list(parent))[0]?.threadId);
  const clerkId = await childOf(await childOf(threadId));
  const { messages } = await client.getMessages(clerkId);
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  return { client, store, threadId, clerkId, record, did, results };
}

describe('rules of a parent', () => {
  it('[PL-06] apply to its grandchildren, whatever their own policies allow', async () => {
    const { did, results, record } = await threeGenerations({
      helper: { 'money.*': 'deny' },
      clerk: { '*': 'allow' },
    });
    expect(record.status).toBe('idle');
    expect(did).toEqual(['read', 'ship', 'plain']);
    expect(results[1]).toContain('money.move');
  });

  it('[PL-06] are joined over generations with those of the context: each narrows, none widens', async () => {
    const { did } = await threeGenerations(
      {
        helper: { 'money.*': 'allow' },
        scribe: { 'goods.*': 'deny' },
        clerk: { '*': 'allow' },
      },
      { permissions: { 'money.move': 'deny' } },
    );
    expect(did).toEqual(['read', 'plain']);
  });

  it('[PL-06] of a child do not restrict the parent', async () => {
    const { did, client, clerkId, threadId } = await threeGenerations({ clerk: { 'money.*': 'deny' } });
    expect(did).toEqual(['read', 'ship', 'plain']);
    expect(await client.listActions({ threadId })).toEqual([]);
    expect((await client.getExecution(clerkId)).context?.permissions ?? {}).toEqual({});
  });

  it('[PL-09] that require an approval request it where the child works', async () => {
    const { record, client, threadId, clerkId, did } = await threeGenerations({
      helper: { 'goods.*': 'require_approval' },
    });
    expect(record.status).toBe('waiting');
    const [wait] = await client.listWaits({ threadId });
    expect(wait).toMatchObject({ kind: 'approval', name: 'ship', threadId: clerkId });
    expect(did).toEqual(['read', 'pay']);
    await client.answerWait(wait?.id as string, { approved: true });
    await eventually('rest', async () => (await client.waitForIdle(threadId)).status === 'idle');
    expect(did).toEqual(['read', 'pay', 'ship', 'plain']);
  });

  it('[PL-07] that refuse approvals apply to its grandchildren: a call needing one is denied there at once', async () => {
    const { record, client, threadId, did, results } = await threeGenerations({
      helper: { rules: { 'goods.*': 'require_approval' }, default: 'allow', approvals: 'refuse' },
      clerk: { 'money.*': 'require_approval', '*': 'allow' },
    });
    expect(record.status).toBe('idle');
    expect(did).toEqual(['read', 'plain']);
    expect(results[1]).toContain('money.move');
    expect(await client.listWaits({ threadId })).toEqual([]);
  });
});
