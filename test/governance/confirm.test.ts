/** A tool whose calls a person confirms, whatever the policy. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type AgentInput, defineTool, type ToolInput } from '../../src/definitions/index.ts';
import { calls, type ScriptStep, says, scriptedModel } from '../../src/testing/index.ts';
import { eventsOf } from '../support/effects.ts';
import { type RuntimeOptions, testRuntime } from '../support/runtime.ts';

const SENDING = z.object({ to: z.string() });

interface Sending {
  readonly policy?: AgentInput['policy'];
  readonly guards?: AgentInput['guards'];
  readonly prompt?: RuntimeOptions['prompt'];
  /** True if a tool invokes it, in place of a call by the model. */
  readonly byCode?: boolean;
  readonly to?: string;
  readonly behind?: readonly ScriptStep[];
}

async function sending(
  confirm: NonNullable<ToolInput<typeof SENDING>['confirm']>,
  { policy, guards, prompt, byCode = false, to = 'ada', behind = [says('done')] }: Sending = {},
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
  const relay = defineTool({ description: 'relays', execute: (state) => state.invokeTool('send', { to }) });
  const model = scriptedModel([calls(byCode ? 'relay' : 'send', { to }), ...behind]);
  const agent = { policy, ...(guards && { guards }) };
  const runtime = await testRuntime({ model, tools: { send, relay }, agent, prompt });
  const { client } = runtime;
  const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
  const rest = async () => (await client.waitForIdle(threadId)).status;
  const status = await rest();
  return { runtime, client, threadId, sent, status, rest, waits: await client.listWaits({ threadId }) };
}

describe('a tool with confirmation', () => {
  it.each([
    ['as it is', true as const, 'send {"to":"ada"}'],
    ['in its own words', ({ to }: { to: string }) => `Send it to ${to}?`, 'Send it to ada?'],
  ])(
    'waits without any policy, shows the call %s, and runs once it is confirmed',
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

  it('does not run if a person denies it', async () => {
    const { client, sent, rest, waits } = await sending(true);
    await client.answerWait(waits[0]?.id ?? '', { approved: false, reason: 'no' });
    expect(await rest()).toBe('idle');
    expect(sent).toEqual([]);
  });

  it('runs a call without need of confirmation at once', async () => {
    const { sent, status } = await sending(({ to }) => (to === 'ada' ? null : 'Really?'));
    expect(status).toBe('idle');
    expect(sent).toEqual(['ada']);
  });

  it('waits once, together with the approval that a rule requires', async () => {
    const policy = { 'mail.*': 'require_approval' } as const;
    const { runtime, client, threadId, sent, rest, waits } = await sending(() => 'Send it?', { policy });
    expect(waits).toMatchObject([
      { summary: 'Send it?', data: { reason: 'The policy requires approval for: mail.send' } },
    ]);
    await client.answerWait(waits[0]?.id ?? '', { approved: true });
    expect(await rest()).toBe('idle');
    expect(sent).toEqual(['ada']);
    expect(await eventsOf(runtime, threadId, 'wait.opened')).toHaveLength(1);
  });

  it('is not confirmed if the policy denies it', async () => {
    const { sent, status, waits } = await sending(true, { policy: { 'mail.*': 'deny' } });
    expect([status, waits, sent]).toEqual(['idle', [], []]);
  });

  describe("if `guards.confirm` is 'auto'", () => {
    const guards = { confirm: 'auto' } as const;

    it('runs at once, and the log records the confirmation', async () => {
      const { runtime, threadId, sent, status, waits } = await sending(() => 'Send it?', { guards });
      expect([status, waits, sent]).toEqual(['idle', [], ['ada']]);
      expect((await eventsOf(runtime, threadId, 'action.policy')).map(({ data }) => data)).toMatchObject([
        { effect: 'allow', confirm: 'Send it?', confirmedBy: 'auto' },
      ]);
    });

    it('still waits for an approval required by a rule', async () => {
      const policy = { 'mail.*': 'require_approval' } as const;
      const { client, sent, status, rest, waits } = await sending(true, { guards, policy });
      expect([status, sent]).toEqual(['waiting', []]);
      await client.answerWait(waits[0]?.id ?? '', { approved: true });
      expect([await rest(), sent]).toEqual(['idle', ['ada']]);
    });

    it('waits if the prompt says so, which overrides its agent', async () => {
      const prompt = { guards: { confirm: 'ask' } } as const;
      const { status, sent } = await sending(true, { guards, prompt, behind: [] });
      expect([status, sent]).toEqual(['waiting', []]);
    });

    it('runs for code too', async () => {
      const { sent, status } = await sending(true, { guards, byCode: true });
      expect([status, sent]).toEqual(['idle', ['ada']]);
    });

    it('does not run if its confirm throws', async () => {
      const { sent, waits } = await sending(() => Promise.reject(new Error('no names')), { guards });
      expect([waits, sent]).toEqual([[], []]);
    });
  });

  it('does not run if its confirm throws, without any setting', async () => {
    const { sent, waits } = await sending(() => Promise.reject(new Error('no names')));
    expect([waits, sent]).toEqual([[], []]);
  });
});
