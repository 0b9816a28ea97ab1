/** `onDenied: 'fail'`: a call that is not allowed ends the execution, but not the thread. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type AgentInput, defineTool } from '../../src/definitions/index.ts';
import { callsMany, type ScriptStep, says, scriptedModel } from '../../src/testing/index.ts';
import { promptProject } from '../support/prompt-project.ts';
import { testRuntime } from '../support/runtime.ts';

type Policy = AgentInput['policy'];

/** A tool that moves money, one that reads, and a record of what both have done. */
function tools(fields: { readonly quick?: boolean } = {}) {
  const did: string[] = [];
  const define = (name: string, capability: string) =>
    defineTool({
      description: name,
      args: z.object({ id: z.string() }),
      capabilities: [capability],
      ...fields,
      execute: async (_state, { id }) => {
        did.push(`${name} ${id}`);
        return { status: 'success', result: `${name} ${id}` };
      },
    });
  return { did, tools: { pay: define('pay', 'money.move'), read: define('read', 'records.read') } };
}

const READ_PAY_READ = callsMany([
  { name: 'read', args: { id: '1' } },
  { name: 'pay', args: { id: '2' } },
  { name: 'read', args: { id: '3' } },
]);

interface Paying {
  readonly quick?: boolean;
  /** What the model answers afterwards. */
  readonly behind?: readonly ScriptStep[];
}

async function paying(policy: Policy, { behind = [], ...fields }: Paying = {}) {
  const { did, tools: defined } = tools(fields);
  const script: ScriptStep[] = [READ_PAY_READ, ...behind];
  const model = scriptedModel(script);
  const runtime = await testRuntime({ model, tools: defined, agent: { policy } });
  const { client } = runtime;
  const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
  return { runtime, client, threadId, did, model, record: await client.waitForIdle(threadId) };
}

const DENIED = { rules: { 'money.*': 'deny' }, onDenied: 'fail' } as const;
const ASKS = { rules: { 'money.*': 'require_approval' }, onDenied: 'fail' } as const;

describe("onDenied: 'fail'", () => {
  it.each([
    ['in activities of their own', {}],
    ['within the activity of their step', { quick: true }],
  ])(
    '[PL-06] ends the execution with the first denied call, of calls %s: later ones do not start, and the thread stays usable',
    async (_, fields) => {
      const { client, threadId, did, model, record } = await paying(DENIED, {
        ...fields,
        behind: [says('I am back.')],
      });
      const message = '"pay" was not done. The policy denies: money.move.';
      expect(record).toMatchObject({ status: 'failed', lastError: { code: 'ActionDenied', message } });
      expect(did).toEqual(['read 1']);
      expect(model.requests).toHaveLength(1);
      const { messages } = await client.getMessages(threadId);
      expect(messages.filter(({ role }) => role === 'tool').map(({ tool_status: status }) => status)).toEqual(
        ['success', 'error', 'error'],
      );
      await client.queueMessage(threadId, { content: 'and now?' });
      expect(await client.waitForIdle(threadId)).toMatchObject({ status: 'idle' });
      expect(did).toEqual(['read 1']);
    },
  );

  it('[PL-10] ends it if a person denies, with the reason', async () => {
    const { client, threadId, did, record } = await paying(ASKS);
    expect(record.status).toBe('waiting');
    const [wait] = await client.listWaits({ threadId });
    await client.answerWait(wait?.id ?? '', { approved: false, reason: 'too much', by: 'Ada' });
    expect(await client.waitForIdle(threadId)).toMatchObject({
      status: 'failed',
      lastError: {
        code: 'ActionDenied',
        message: expect.stringContaining('Ada refused its approval: too much'),
      },
    });
    expect(did).toEqual(['read 1']);
  });

  it('[PL-07] ends it with `ApprovalRequired` if approvals are refused', async () => {
    const { record, did } = await paying({ ...ASKS, approvals: 'refuse' });
    expect(record).toMatchObject({ status: 'failed', lastError: { code: 'ApprovalRequired' } });
    expect(did).toEqual(['read 1']);
  });

  it('ends it for a call within a sub-prompt', async () => {
    const { did, tools: defined } = tools();
    const model = scriptedModel([callsMany([{ name: 'desk', args: {} }]), READ_PAY_READ]);
    const main = { tools: ['desk'] };
    const prompts = { desk: { tools: ['read', 'pay'] } };
    const registry = promptProject({ model, main, prompts, tools: defined, policy: DENIED });
    const runtime = await testRuntime({ registry });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({
      status: 'failed',
      lastError: { code: 'ActionDenied' },
    });
    expect(did).toEqual(['read 1']);
  });
});
