/**
 * A worker is killed around an approval, which is decided from a shell: what was shown is done once, and what is refused, expired
 * or not decided is not done. `npm run test:soak -- wait-kill` has many threads under many deaths.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answerWait } from '../../src/workflows/messages.ts';
import { command, decide, openWait, replaceWorkers } from '../support/approvals.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import type { DeathPoint } from '../support/fault-project.ts';

describe('a worker process killed with SIGKILL around an approval', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.keep(1);
  });
  afterAll(() => cluster?.close());

  const ask = (tool = 'refund', agent = 'clerk') => cluster.begin(`use ${tool} 1`, agent);
  const killAll = () => Promise.all(cluster.workers.map((worker) => worker.end('SIGKILL')));
  const stateOf = async (threadId: string) =>
    (await cluster.client.listActions({ threadId })).map(({ state }) => state);
  const countOf = async (thread: string, type: string) =>
    (await cluster.store.events.read(thread, 0)).filter((event) => event.type === type).length;

  /** A worker dies there of what `cause` brings about; another one goes on. */
  async function dieAt<T>(point: DeathPoint, cause: () => Promise<T>): Promise<T> {
    cluster.orderDeath(point);
    const caused = await cause();
    await cluster.died(point);
    await cluster.keep(1);
    return caused;
  }

  async function expectDoneOnce(thread: string): Promise<void> {
    expect(await cluster.client.waitForIdle(thread)).toMatchObject({ status: 'idle', lastError: null });
    expect(cluster.ledger(thread)).toEqual(['1']);
    expect(await stateOf(thread)).toEqual(['completed']);
    expect(await countOf(thread, 'wait.opened')).toBe(1);
    expect(await countOf(thread, 'tool.result')).toBe(1);
  }

  async function expectNothingDone(thread: string, states: string[]): Promise<void> {
    expect(cluster.ledger(thread)).toEqual([]);
    expect(await stateOf(thread)).toEqual(states);
    expect(await countOf(thread, 'tool.started')).toBe(0);
  }

  it('[PL-09] while it waits: decided when there is no worker, it is done once by the next, with what was shown', async () => {
    const thread = await ask();
    const { id, summary, data } = await openWait(cluster, thread);
    expect({ summary, data }).toMatchObject({ summary: 'Refunds 1', data: { arguments: { line: '1' } } });
    await killAll();
    expect(await decide(cluster, id, '--approve', '--by', 'ada')).toBe(0);
    expect(cluster.ledger(thread)).toEqual([]);
    await cluster.keep(1);
    await expectDoneOnce(thread);
  });

  it("[PL-09] right after the wait's transaction: the next finds the same wait, and asks no second one", async () => {
    const thread = await dieAt('wait_opened', () => ask());
    expect(await decide(cluster, (await openWait(cluster, thread)).id, '--approve')).toBe(0);
    await expectDoneOnce(thread);
  });

  it('[PL-09] as it begins what was approved a moment ago: the next one does it', async () => {
    const thread = await ask();
    const { id } = await openWait(cluster, thread);
    await dieAt('tool_not_begun', () => decide(cluster, id, '--approve'));
    await expectDoneOnce(thread);
  });

  it('[PL-09] right after it stored an answer that a signal brought: the answer counts once', async () => {
    const thread = await ask();
    const { id } = await openWait(cluster, thread);
    const workflow = cluster.client.temporal.workflow.getHandle(`thread/${thread}`);
    await dieAt('wait_answered', () => workflow.signal(answerWait, { id, answer: { approved: true } }));
    await expectDoneOnce(thread);
    expect(await countOf(thread, 'wait.answered')).toBe(1);
    expect(await countOf(thread, 'item.rejected')).toBe(0);
  });

  it('[PL-25] once the result of what was approved is stored: it is kept, and not done again', async () => {
    const thread = await ask();
    const { id } = await openWait(cluster, thread);
    await dieAt('tool_committed', () => decide(cluster, id, '--approve'));
    await expectDoneOnce(thread);
  });

  it.each<[string, DeathPoint, string[]]>([
    ['before', 'body_before', []],
    ['after', 'body_after', ['1']],
  ])(
    '[PL-26] within what was approved, %s its side effect: it is uncertain, the model is told, and it is never done again',
    async (_when, point, written) => {
      const thread = await ask();
      const { id } = await openWait(cluster, thread);
      await dieAt(point, () => decide(cluster, id, '--approve'));
      await cluster.client.waitForIdle(thread);
      expect(cluster.ledger(thread)).toEqual(written);
      expect(await stateOf(thread)).toEqual(['uncertain']);
      expect((await cluster.transcript(thread))[2]).toMatch(
        /^tool refund error: .*outcome of this call is unknown/,
      );
      expect(await countOf(thread, 'wait.opened')).toBe(1);
    },
  );

  it("[PL-26] with `onUncertain: 'wait'`, within a call: its thread waits for word of it, also across workers, and goes on with that", async () => {
    const thread = await dieAt('body_after', () => ask('refund', 'auditor'));
    const { id, kind, data } = await openWait(cluster, thread);
    expect([kind, data, await stateOf(thread)]).toMatchObject([
      'reconcile',
      { actionId: `${thread}:1:0`, arguments: { line: '1' } },
      ['uncertain'],
    ]);
    await killAll();
    // An approval says nothing of what became of it.
    expect(await decide(cluster, id, '--approve')).toBe(2);
    const said = ['--completed', '--note', 'in the books', '--by', 'Ada'];
    expect(await command(cluster, 'actions', 'reconcile', `${thread}:1:0`, ...said)).toMatchObject({
      code: 0,
    });
    await cluster.keep(1);
    expect(await cluster.client.waitForIdle(thread)).toMatchObject({ status: 'idle', lastError: null });
    expect([cluster.ledger(thread), await stateOf(thread)]).toEqual([['1'], ['reconciled']]);
    expect((await cluster.transcript(thread))[2]).toMatch(
      /^tool refund .*Ada says that it has taken effect: in the books/,
    );
    expect(await countOf(thread, 'tool.started')).toBe(1);
  });

  it('[PL-09] while it waits: what is refused meanwhile is not done', async () => {
    const thread = await ask();
    const { id } = await openWait(cluster, thread);
    await killAll();
    expect(await decide(cluster, id, '--deny', '--reason', 'too much')).toBe(0);
    expect(await decide(cluster, id, '--approve')).toBe(1);
    await cluster.keep(1);
    expect(await cluster.client.waitForIdle(thread)).toMatchObject({ status: 'idle' });
    await expectNothingDone(thread, ['denied']);
  });

  it('[PL-09] while it waits: what expires meanwhile is not done', async () => {
    const thread = await ask('hasty');
    const id = await eventually('a wait', async () => {
      const opened = (await cluster.store.events.read(thread, 0)).find(({ type }) => type === 'wait.opened');
      return opened?.type === 'wait.opened' && opened.data.waitId;
    });
    await killAll();
    await eventually('its time is up', async () => (await cluster.client.getWait(id)).state !== 'open');
    expect(await decide(cluster, id, '--approve')).toBe(1);
    await cluster.keep(1);
    await eventually('rest', async () => (await cluster.client.waitForIdle(thread)).status === 'idle');
    await expectNothingDone(thread, ['denied']);
  });

  it('[PL-17] as it would begin what its budget denies: nobody is asked, and nothing is done', async () => {
    const budget = { maxToolCalls: 0 };
    const { threadId: thread } = await dieAt('tool_not_begun', () =>
      cluster.client.startThread({
        agent: 'clerk',
        messages: [{ content: 'use refund 1', context: { budget } }],
      }),
    );
    expect(await cluster.client.waitForIdle(thread)).toMatchObject({
      status: 'failed',
      lastError: { code: 'BudgetExceeded' },
    });
    await expectNothingDone(thread, []);
    expect(await countOf(thread, 'wait.opened')).toBe(0);
  });

  it('[PL-09] again and again while it waits: what nobody decides is not done, and waits under the same id', async () => {
    const thread = await ask();
    const { id } = await openWait(cluster, thread);
    for (let death = 0; death < 3; death++) await replaceWorkers(cluster);
    expect((await openWait(cluster, thread)).id).toBe(id);
    await expectNothingDone(thread, ['requested']);
    expect(await decide(cluster, id, '--approve')).toBe(0);
    await expectDoneOnce(thread);
  });
});
