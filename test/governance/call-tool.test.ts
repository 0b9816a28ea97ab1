/** A tool that a client calls without a model: it passes the same gate as every call, and no model answers it. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type AgentInput, defineTool } from '../../src/definitions/index.ts';
import { type ScriptStep, says, scriptedModel } from '../../src/testing/index.ts';
import { testRuntime } from '../support/runtime.ts';

async function payer({
  policy,
  script = [],
}: {
  policy?: AgentInput['policy'];
  script?: readonly ScriptStep[];
} = {}) {
  const paid: number[] = [];
  const pay = defineTool({
    description: 'pays',
    args: z.object({ cents: z.number() }),
    capabilities: ['money.move'],
    execute: async (state, { cents }) => {
      paid.push(cents);
      return { status: 'success', result: `paid ${cents} in ${state.execution?.context.runId}` };
    },
  });
  const model = scriptedModel([...script]);
  const runtime = await testRuntime({ model, tools: { pay }, agent: policy ? { policy } : {} });
  const { threadId } = await runtime.client.startThread({ agent: 'helper' });
  return { ...runtime, threadId, paid, model };
}

const PAY = { name: 'pay', arguments: { cents: 500 } } as const;

describe('a tool called by a client', () => {
  it('[PL-06] calls no model: the thread is idle with the result, which the model gets later', async () => {
    const { client, threadId, paid, model, messages } = await payer({ script: [says('I see.')] });
    const called = await client.callTool(threadId, { ...PAY, id: 'one', context: { runId: 'run_1' } });
    expect(called).toEqual({ id: 'one', status: 'success', content: 'paid 500 in run_1' });
    expect(await client.waitForIdle(threadId)).toMatchObject({ status: 'idle', stopReason: 'unanswered' });
    expect(model.requests).toEqual([]);
    // The same call with the same id returns the stored result, and does not run again.
    expect(await client.callTool(threadId, { ...PAY, id: 'one' })).toEqual(called);
    await client.queueMessage(threadId, { content: 'and?' });
    await client.waitForIdle(threadId);
    expect(paid).toEqual([500]);
    expect((await messages(threadId)).map(({ role }) => role)).toEqual([
      'assistant',
      'tool',
      'user',
      'assistant',
    ]);
  });

  it('leaves a waiting message unaffected: a message that arrives with it is answered', async () => {
    const { client, threadId, paid } = await payer({ script: [says('Hello.')] });
    await client.stop(threadId);
    await client.waitForIdle(threadId);
    await client.queueTool(threadId, { ...PAY, unanswered: true });
    await client.queueMessage(threadId, { content: 'hello' });
    expect(await client.waitForIdle(threadId)).toMatchObject({
      status: 'idle',
      stopReason: 'stop_on_response',
    });
    expect(paid).toEqual([500]);
  });

  it('[PL-06] is denied if its context denies a capability, and has no effect', async () => {
    const { client, threadId, paid } = await payer({ policy: { 'money.*': 'allow' } });
    const context = { permissions: { 'money.move': 'deny' } };
    expect(await client.callTool(threadId, { ...PAY, context })).toMatchObject({
      status: 'error',
      code: 'ActionDenied',
      content: expect.stringContaining('ActionDenied: "pay" was not done.'),
    });
    expect(await client.callTool(threadId, PAY)).toMatchObject({ status: 'success' });
    expect(paid).toEqual([500]);
  });

  it('[PL-04] waits for its approval, reports that, and runs once it is given', async () => {
    const { client, threadId, paid } = await payer({ policy: { 'money.*': 'require_approval' } });
    const call = { ...PAY, id: 'one', context: { permissions: { 'money.move': 'allow' } } };
    const { status, waits = [] } = await client.callTool(threadId, call);
    expect({ status, waits }).toMatchObject({
      status: 'waiting',
      waits: [{ kind: 'approval', name: 'pay' }],
    });
    expect(paid).toEqual([]);
    await client.answerWait(waits[0]?.id ?? '', { approved: true });
    expect(await client.callTool(threadId, call)).toMatchObject({ id: 'one', status: 'success' });
    expect(paid).toEqual([500]);
  });

  it('is refused with a code if the thread refuses it, and if it cannot be sent', async () => {
    const { client, threadId, paid } = await payer();
    const context = { canceled: true };
    await expect(client.callTool(threadId, { ...PAY, context })).rejects.toMatchObject({
      code: 'InvalidMessage',
      message: 'The thread refused the call: its context is canceled.',
    });
    const odd = { ...PAY, unanswered: 'yes' as never };
    await expect(client.queueTool(threadId, odd)).rejects.toMatchObject({ code: 'InvalidMessage' });
    expect(await client.callTool(threadId, { name: 'nothing' })).toMatchObject({ status: 'error' });
    expect(paid).toEqual([]);
    await client.terminate(threadId);
    await expect(client.callTool(threadId, PAY)).rejects.toMatchObject({ code: 'ThreadTerminated' });
  });
});
