/** A person approves a call with changed arguments: those are checked, judged, shown and run in place of the model's. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type AgentInput, defineTool, type ToolInput } from '../../src/definitions/index.ts';
import type { Wait } from '../../src/store/wait/wait-record.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { eventsOf } from '../support/effects.ts';
import { testRuntime } from '../support/runtime.ts';

const ARGS = z.object({ cents: z.number().max(1000), to: z.string().default('Bob') });
type Args = z.infer<typeof ARGS>;
type Fields = Partial<Pick<ToolInput<typeof ARGS>, 'prepareAction' | 'confirm' | 'quick'>>;

interface Paying extends Fields {
  readonly policy?: AgentInput['policy'];
  /** How often the model makes the same call. */
  readonly times?: number;
  readonly loops?: boolean;
}

/** The model calls `pay` with 500 cents, and waits for the approval. */
async function paying({
  policy = { 'money.*': 'require_approval' },
  times = 1,
  loops,
  ...fields
}: Paying = {}) {
  const paid: Args[] = [];
  const pay = defineTool({
    description: 'pays',
    args: ARGS,
    capabilities: ['money.move'],
    ...fields,
    execute: async (_state, args) => {
      paid.push(args);
      return { status: 'success', result: `paid ${args.cents}` };
    },
  });
  const model = scriptedModel([
    ...Array.from({ length: times }, () => calls('pay', { cents: 500 })),
    says('done'),
  ]);
  const agent = { policy, ...(loops && { guards: { loops: { warning: 2, critical: 3 } } }) };
  const runtime = await testRuntime({ model, tools: { pay }, agent });
  const { client } = runtime;
  const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
  const waiting = async (): Promise<Wait> => {
    await client.waitForIdle(threadId);
    const [wait] = await client.listWaits({ threadId });
    if (!wait) throw new Error('Nothing waits.');
    return wait;
  };
  const approve = async (wait: Wait, given?: Readonly<Record<string, unknown>>) => {
    const answer = { approved: true, by: 'ada', ...(given && { arguments: given }) };
    expect(await client.answerWait(wait.id, answer)).toEqual({ outcome: 'taken' });
    return client.waitForIdle(threadId);
  };
  return { runtime, client, threadId, paid, model, waiting, approve };
}

describe('an approval with changed arguments', () => {
  it.each([
    ['an activity of its own', {}],
    ['the activity of its step', { quick: true }],
  ])(
    '[PL-09a] runs the call with them, from %s, and tells the model the old and the new ones',
    async (_, fields) => {
      const { runtime, client, threadId, paid, model, waiting, approve } = await paying(fields);
      const wait = await waiting();
      expect(await approve(wait, { cents: 300 })).toMatchObject({ status: 'idle' });
      expect(paid).toEqual([{ cents: 300, to: 'Bob' }]);
      const [, request] = model.requests;
      expect(request?.messages.at(-1)).toMatchObject({
        content:
          'paid 300\n\nApproved with changes by ada: called with {"cents":300,"to":"Bob"} in place of {"cents":500}.',
      });
      expect(JSON.stringify(request?.messages.at(-2))).toContain('{"cents":500}');
      const requested = await eventsOf(runtime, threadId, 'action.requested');
      expect(requested.map(({ data }) => data.arguments)).toEqual([
        { cents: 500, to: 'Bob' },
        { cents: 300, to: 'Bob' },
      ]);
      const [answered] = await eventsOf(runtime, threadId, 'wait.answered');
      expect(answered?.data).toMatchObject({ approved: true, by: 'ada', changed: true });
      expect(JSON.stringify(answered?.data)).not.toContain('300');
      expect(await client.listActions({ threadId })).toMatchObject([{ state: 'completed' }]);
    },
  );

  it('asks again if the tool does not accept them, shows the problem, and the model learns nothing of it', async () => {
    const { paid, model, waiting, approve } = await paying();
    const first = await waiting();
    expect(await approve(first, { cents: 5000 })).toMatchObject({ status: 'waiting' });
    const again = await waiting();
    expect(again).toMatchObject({ kind: 'approval', fingerprint: first.fingerprint });
    expect(again.summary).toMatch(/^The changed arguments were refused: .*cents/);
    expect(again.summary.endsWith(`\n${first.summary}`)).toBe(true);
    expect(again.data).toMatchObject({
      arguments: { cents: 500 },
      problem: expect.stringContaining('cents'),
    });
    await approve(again, { euros: 1 });
    const third = await waiting();
    expect(third.summary.endsWith(`\n${first.summary}`)).toBe(true);
    expect(third.summary.match(/were refused/g)).toHaveLength(1);
    // Approved as it was shown: with the model's own.
    await approve(third);
    expect(paid).toEqual([{ cents: 500, to: 'Bob' }]);
    expect(model.requests).toHaveLength(2);
    expect(JSON.stringify(model.requests[1])).not.toContain('refused');
  });

  it('asks again if its preparation fails with them', async () => {
    const prepareAction: Fields['prepareAction'] = ({ cents }) => {
      if (cents === 1) throw new Error('nobody pays a cent');
      return {};
    };
    const { paid, waiting, approve } = await paying({ prepareAction });
    await approve(await waiting(), { cents: 1 });
    const again = await waiting();
    expect(again.summary).toContain('nobody pays a cent');
    await approve(again, { cents: 2 });
    expect(paid).toEqual([{ cents: 2, to: 'Bob' }]);
  });

  it.each<[string, Fields]>([
    ['description', { prepareAction: ({ cents }) => ({ description: `Pays ${cents}` }) }],
    ['artifacts', { prepareAction: ({ cents }) => ({ artifacts: [{ content: `${cents}` }] }) }],
    [
      'capabilities',
      { prepareAction: ({ cents }) => ({ capabilities: cents < 400 ? ['money.small'] : [] }) },
    ],
    ['confirmation', { confirm: ({ cents }) => `Pay ${cents}?` }],
  ])(
    'asks for one more approval, which shows other %s than before, and then runs once',
    async (_, fields) => {
      const { paid, waiting, approve } = await paying(fields);
      const first = await waiting();
      expect(await approve(first, { cents: 300 })).toMatchObject({ status: 'waiting' });
      expect(paid).toEqual([]);
      const second = await waiting();
      expect(second.data).toMatchObject({ arguments: { cents: 300, to: 'Bob' } });
      expect(second.fingerprint).not.toBe(first.fingerprint);
      expect(await approve(second)).toMatchObject({ status: 'idle' });
      expect(paid).toEqual([{ cents: 300, to: 'Bob' }]);
    },
  );

  it('falls back to the change before, if a further one is not accepted', async () => {
    const { paid, waiting, approve } = await paying({
      prepareAction: ({ cents }) => ({ description: `Pays ${cents}` }),
    });
    await approve(await waiting(), { cents: 300 });
    const second = await waiting();
    await approve(second, { cents: 'many' });
    const third = await waiting();
    expect(third).toMatchObject({ fingerprint: second.fingerprint, data: { arguments: { cents: 300 } } });
    await approve(third);
    expect(paid).toEqual([{ cents: 300, to: 'Bob' }]);
  });

  it('is refused by a policy that denies what they need', async () => {
    const { paid, model, waiting, approve } = await paying({
      policy: { 'money.move': 'require_approval', 'money.small': 'deny' },
      prepareAction: ({ cents }) => ({ capabilities: cents < 400 ? ['money.small'] : [] }),
    });
    expect(await approve(await waiting(), { cents: 300 })).toMatchObject({ status: 'idle' });
    expect(paid).toEqual([]);
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('ActionDenied');
  });

  it('gives no approval to a later call with the arguments of the model', async () => {
    const { paid, waiting, approve } = await paying({ times: 2 });
    await approve(await waiting(), { cents: 300 });
    const second = await waiting();
    expect(second.data).toMatchObject({ arguments: { cents: 500 } });
    await approve(second);
    expect(paid.map(({ cents }) => cents)).toEqual([300, 500]);
  });

  it('is what the detection of loops compares', async () => {
    const { runtime, threadId, paid, waiting, approve } = await paying({ times: 3, loops: true });
    for (const cents of [100, 200, 300]) await approve(await waiting(), { cents });
    expect(paid.map(({ cents }) => cents)).toEqual([100, 200, 300]);
    expect(await eventsOf(runtime, threadId, 'loop.warning')).toEqual([]);
    expect(await eventsOf(runtime, threadId, 'loop.critical')).toEqual([]);
  });

  it.each<[string, object]>([
    ['that are no object', { approved: true, arguments: [1] }],
    ['with a refusal', { approved: false, arguments: {} }],
    ['for more than this call', { approved: true, scope: 'thread', arguments: {} }],
    ['that are too large', { approved: true, arguments: { text: 'x'.repeat(70_000) } }],
    ['with a value', { value: 1, arguments: {} }],
  ])('is refused for arguments %s, and the wait stays open', async (_, answer) => {
    const { client, waiting, approve } = await paying();
    const { id } = await waiting();
    await expect(client.answerWait(id, answer as { approved: boolean })).rejects.toMatchObject({
      code: 'InvalidValue',
    });
    const wait = await waiting();
    expect(wait).toMatchObject({ id, state: 'open' });
    await approve(wait);
  });

  it('counts once: of two people who answer, the first one decides', async () => {
    const { client, paid, waiting, threadId } = await paying();
    const { id } = await waiting();
    const verdicts = await Promise.all([
      client.answerWait(id, { approved: true, by: 'ada', arguments: { cents: 1 } }),
      client.answerWait(id, { approved: true, by: 'bob', arguments: { cents: 2 } }),
    ]);
    expect(verdicts.map(({ outcome }) => outcome).sort()).toEqual(['already_answered', 'taken']);
    const first = verdicts[0]?.outcome === 'taken' ? 1 : 2;
    await client.waitForIdle(threadId);
    expect(paid).toEqual([{ cents: first, to: 'Bob' }]);
  });
});
