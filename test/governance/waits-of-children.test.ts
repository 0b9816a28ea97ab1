/** A wait that blocks a child blocks the ancestors that wait for the child: they show it, and it can be answered from there. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool, type ToolEntryInput } from '../../src/definitions/index.ts';
import { calls, says } from '../../src/testing/index.ts';
import { signalForgotten, signalUnseen } from '../../src/worker/maintenance.ts';
import { answerWaitUpdate } from '../../src/workflows/messages.ts';
import { askStatus } from '../support/ask-workflow.ts';
import { type Answer, childProject, handsIn, hasResult, modelOf } from '../support/child-project.ts';
import { eventually, type RuntimeOptions, testRuntime } from '../support/runtime.ts';

const refund = defineTool({
  description: 'refunds',
  args: z.object({ cents: z.number() }),
  confirm: ({ cents }) => `Refund ${cents}?`,
  execute: async (_state, { cents }) => ({ status: 'success', result: `refunded ${cents}` }),
});
const hasty = { ...refund, approvalTimeoutMs: 200 };

interface Family {
  readonly tool?: 'refund' | 'hasty';
  readonly entry?: ToolEntryInput;
  /** The scribe's answer once the clerk has reported. */
  readonly scribeSays?: Answer;
  readonly runtime?: Partial<RuntimeOptions>;
}

/** The helper asks the scribe, which asks the clerk, which refunds: each waits for the one below. */
async function threeGenerations({
  tool = 'refund',
  entry = 'scribe',
  scribeSays = () => handsIn('scribe has seen to it'),
  runtime: options,
}: Family = {}) {
  const model = modelOf({
    main: (request) => (hasResult(request) ? says('thanks') : calls('scribe')),
    scribe_desk: (request) => (hasResult(request) ? scribeSays(request) : calls('clerk')),
    clerk_desk: (request) => (hasResult(request) ? handsIn('refunded') : calls(tool, { cents: 3 })),
  });
  const registry = childProject({
    model,
    tools: { refund, hasty },
    entries: [entry],
    children: { scribe: { desk: { tools: ['clerk'] } }, clerk: { desk: { tools: [tool] } } },
  });
  const runtime = await testRuntime({ model, registry, ...options });
  const { client, store } = runtime;
  const { threadId: root } = await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
  const childOf = (parent: string) =>
    eventually('a child', async () => (await store.children.list(parent))[0]?.threadId);
  const middle = await childOf(root);
  const clerk = await childOf(middle);
  // The wait of the hasty tool may have expired already.
  const wait = await eventually('a wait', async () => {
    const [open] = await client.listWaits({ threadId: clerk });
    return open ?? (await client.listWaits({ threadId: clerk, state: 'expired' }))[0];
  });
  const told = async (threadId: string) => {
    const events = await store.events.read(threadId, 0, 1000);
    return events.filter(({ type }) => type.startsWith('wait.')).map(({ type, data }) => ({ type, data }));
  };
  const statuses = async () =>
    Promise.all([root, middle, clerk].map(async (id) => (await client.getThread(id)).status));
  const shown = (threadId: string) => askStatus(client.temporal.workflow.getHandle(`thread/${threadId}`));
  return { runtime, client, store, root, middle, clerk, wait, told, statuses, shown };
}

type Generations = Awaited<ReturnType<typeof threeGenerations>>;

/** Waits until the workflow of the thread shows this status. */
async function viewShows({ shown }: Generations, threadId: string, expected: string): Promise<void> {
  await eventually(`it shows ${expected}`, async () => (await shown(threadId)).status === expected);
}

describe('a wait of a descendant', () => {
  it('[PL-09] is shown by all threads that it blocks, and answered from the root', async () => {
    const family = await threeGenerations();
    const { client, root, middle, clerk, wait, told, statuses, shown } = family;
    expect(await client.waitForIdle(root)).toMatchObject({ status: 'waiting' });
    expect(await statuses()).toEqual(['waiting', 'waiting', 'waiting']);
    for (const above of [root, middle]) {
      expect(await client.listWaits({ threadId: above })).toEqual([wait]);
      const opened = {
        waitId: wait.id,
        kind: 'approval',
        name: 'refund',
        threadId: clerk,
        summary: 'Refund 3?',
      };
      expect(await told(above)).toMatchObject([{ type: 'wait.opened', data: opened }]);
      await viewShows(family, above, 'waiting');
      const { id, kind, name } = wait;
      expect(await shown(above)).toMatchObject({
        waits: [{ id, kind, name, threadId: clerk }],
        activity: expect.stringContaining(`which waits for refund (approval ${id})`),
      });
    }
    const workflow = client.temporal.workflow.getHandle(`thread/${root}`);
    const answer = { approved: true, by: 'Ada' };
    expect(await workflow.executeUpdate(answerWaitUpdate, { args: [{ id: wait.id, answer }] })).toEqual({
      outcome: 'taken',
    });
    expect(await client.waitForIdle(root)).toMatchObject({ status: 'idle' });
    for (const above of [root, middle]) {
      expect((await told(above)).slice(1)).toMatchObject([
        {
          type: 'wait.closed',
          data: { waitId: wait.id, threadId: clerk, reason: 'answered', approved: true, by: 'Ada' },
        },
      ]);
    }
    await eventually('it shows none', async () => (await shown(root)).waits === undefined);
    const { messages } = await client.getMessages(root);
    expect(messages.findLast(({ role }) => role === 'tool')?.content).toBe('scribe has seen to it');
  });

  it('[PL-10] ends for all of them when it expires', async () => {
    const { client, root, middle, told } = await threeGenerations({ tool: 'hasty' });
    await eventually('rest', async () => (await client.waitForIdle(root)).status === 'idle');
    for (const above of [root, middle])
      expect(await told(above)).toMatchObject([
        { type: 'wait.opened' },
        { type: 'wait.closed', data: { reason: 'expired' } },
      ]);
  });

  it('[PL-09] does not block a parent that does not wait for the child', async () => {
    const { client, root, middle, told, statuses } = await threeGenerations({
      entry: { name: 'scribe', blocking: false },
    });
    expect(await client.waitForIdle(middle)).toMatchObject({ status: 'waiting' });
    await eventually('rest', async () => (await client.waitForIdle(root)).status === 'idle');
    expect(await statuses()).toEqual(['idle', 'waiting', 'waiting']);
    expect(await told(root)).toEqual([]);
    expect(await told(middle)).toMatchObject([{ type: 'wait.opened' }]);
  });

  it.each(['middle', 'clerk'] as const)(
    '[PL-09] ends for all of them when its thread is terminated, or one between (%s)',
    async (whose) => {
      const family = await threeGenerations();
      const { client, root, told } = family;
      await client.waitForIdle(root);
      await client.terminate(family[whose]);
      await eventually('rest', async () => (await client.waitForIdle(root)).status === 'idle');
      expect(await told(root)).toMatchObject([{ type: 'wait.opened' }, { type: 'wait.closed' }]);
      expect(await client.listWaits({ threadId: root })).toEqual([]);
    },
  );

  it.each(['stop', 'terminate'] as const)(
    '[PL-09] no longer blocks a request to %s, nor any thread below',
    async (request) => {
      const family = await threeGenerations();
      const { client, root, middle, told, statuses } = family;
      await client.waitForIdle(root);
      await client[request](root);
      const end = request === 'stop' ? 'stopped' : 'terminated';
      await eventually('the end of all', async () => {
        const [first, ...rest] = await statuses();
        return first === end && rest.every((each) => each === end || each === 'terminated');
      });
      for (const above of [root, middle])
        expect(await told(above)).toMatchObject([{ type: 'wait.opened' }, { type: 'wait.closed' }]);
      expect(await client.listWaits({ threadId: root })).toEqual([]);
    },
  );

  it('[PL-09] ends for all of them by the periodic check of a worker, if the signal was lost', async () => {
    const family = await threeGenerations();
    const { client, store, runtime, root, middle, wait } = family;
    await client.waitForIdle(root);
    for (const above of [root, middle]) await viewShows(family, above, 'waiting');
    // Answered in the store only, as if the process that answers had been lost before its signals.
    await store.waits.answer({ id: wait.id, answer: { approved: true } });
    const look = { store, client: client.temporal, taskQueue: runtime.taskQueue };
    const unseen = async () =>
      (await store.waits.listUnread(0)).filter(({ threadId }) => threadId === root || threadId === middle);
    expect(await unseen()).toHaveLength(2);
    await signalUnseen(look, 0);
    for (const above of [root, middle]) await viewShows(family, above, 'running');
    expect(await unseen()).toEqual([]);
    await signalForgotten(look, 0);
    expect(await client.waitForIdle(root)).toMatchObject({ status: 'idle' });
  });

  it('[PL-09] is hidden from all above once its thread is stopped, while its parent continues', async () => {
    const { promise: said, resolve: say } = Promise.withResolvers<void>();
    const family = await threeGenerations({
      scribeSays: async () => {
        await said;
        return handsIn('it was stopped');
      },
    });
    const { client, root, middle, clerk } = family;
    await client.waitForIdle(root);
    for (const above of [root, middle]) await viewShows(family, above, 'waiting');
    await client.stop(clerk);
    for (const above of [middle, root]) await viewShows(family, above, 'running');
    expect((await family.shown(root)).waits).toBeUndefined();
    say();
    await eventually('rest', async () => (await client.waitForIdle(root)).status === 'idle');
  });

  it('[PL-09] is shown again by a run that continues as new meanwhile', async () => {
    const family = await threeGenerations({ runtime: { configuration: { historySoftLimit: 50 } } });
    const { client, root, wait } = family;
    await client.waitForIdle(root);
    await viewShows(family, root, 'waiting');
    const workflow = client.temporal.workflow.getHandle(`thread/${root}`);
    const { runId } = await workflow.describe();
    for (let i = 0; i < 60; i++) await workflow.signal(`nothing ${i}`, i);
    await eventually('another run', async () => (await workflow.describe()).runId !== runId);
    // The signals may cause more than one other run, and a run that is opening shows no waits yet.
    await eventually('it shows the wait', async () => (await family.shown(root)).waits?.[0]?.id === wait.id);
    await client.answerWait(wait.id, { approved: false });
    await eventually('rest', async () => (await client.waitForIdle(root)).status === 'idle');
    expect(await family.told(root)).toHaveLength(2);
  });
});
