/** A tool whose calls a person confirms, whatever a policy says of them. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type AgentInput, defineTool, type ToolInput } from '../../src/definitions/index.ts';
import { calls, type ScriptStep, says, scriptedModel } from '../../src/testing/index.ts';
import { eventsOf } from '../support/effects.ts';
import { testRuntime } from '../support/runtime.ts';

const SENDING = z.object({ to: z.string() });

interface Sending {
  readonly policy?: AgentInput['policy'];
  readonly to?: string;
  readonly behind?: readonly ScriptStep[];
}

async function sending(
  confirm: NonNullable<ToolInput<typeof SENDING>['confirm']>,
  { policy, to = 'ada', behind = [says('done')] }: Sending = {},
) {
  const sent: string[] = [];
  const send = defineTool({
    description: 'sends',
    args: SENDING,
    capabilities: ['mail.send'],
    confirm,
    execute: async (_state, args) => {
      sent.push(args.to);
      return { status: 'success', result: 'sent' };
    },
  });
  const model = scriptedModel([calls('send', { to }), ...behind]);
  const runtime = await testRuntime({ model, tools: { send }, agent: { policy } });
  const { client } = runtime;
  const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
  const rest = async () => (await client.waitForIdle(threadId)).status;
  const status = await rest();
  return { runtime, client, threadId, sent, status, rest, waits: await client.listWaits({ threadId }) };
}

describe('a tool that wants its calls confirmed', () => {
  it.each([
    ['as it is', true as const, 'send {"to":"ada"}'],
    ['in its own words', ({ to }: { to: string }) => `Send it to ${to}?`, 'Send it to ada?'],
  ])(
    'waits without any policy, shows the call %s, and does it once it is confirmed',
    async (_, confirm, summary) => {
      const { client, sent, status, rest, waits } = await sending(confirm);
      expect(status).toBe('waiting');
      expect(waits).toMatchObject([{ kind: 'approval', summary, data: { arguments: { to: 'ada' } } }]);
      expect(sent).toEqual([]);
      await client.answerWait(waits[0]?.id ?? '', { approved: true });
      expect(await rest()).toBe('idle');
      expect(sent).toEqual(['ada']);
    },
  );

  it('is not done where a person refuses', async () => {
    const { client, sent, rest, waits } = await sending(true);
    await client.answerWait(waits[0]?.id ?? '', { approved: false, reason: 'no' });
    expect(await rest()).toBe('idle');
    expect(sent).toEqual([]);
  });

  it('does what needs no confirmation at once', async () => {
    const { sent, status } = await sending(({ to }) => (to === 'ada' ? null : 'Really?'));
    expect(status).toBe('idle');
    expect(sent).toEqual(['ada']);
  });

  it('waits once, together with the approval that a rule requires', async () => {
    const policy = { 'mail.*': 'require_approval' } as const;
    const { runtime, client, threadId, sent, rest, waits } = await sending(() => 'Send it?', { policy });
    expect(waits).toMatchObject([
      { summary: 'Send it?', data: { reason: 'The policy requires an approval for: mail.send' } },
    ]);
    await client.answerWait(waits[0]?.id ?? '', { approved: true });
    expect(await rest()).toBe('idle');
    expect(sent).toEqual(['ada']);
    expect(await eventsOf(runtime, threadId, 'wait.opened')).toHaveLength(1);
  });

  it('is not confirmed where the policy denies it', async () => {
    const { sent, status, waits } = await sending(true, { policy: { 'mail.*': 'deny' } });
    expect([status, waits, sent]).toEqual(['idle', [], []]);
  });

  it('is not done where its confirm throws', async () => {
    const { sent, waits } = await sending(() => Promise.reject(new Error('no names')));
    expect([waits, sent]).toEqual([[], []]);
  });
});
