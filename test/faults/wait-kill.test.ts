/**
 * A worker is killed around an approval that is decided from a shell: an approved action is done once, exactly as it
 * was shown; one that is refused, expired or undecided is not done. `npm run test:soak -- wait-kill` has many threads
 * under many deaths.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answerWait } from '../../src/workflows/messages.ts';
import { command, decide, openWait } from '../support/approvals.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { killWorkers, standAt } from '../support/standing.ts';

/** State of a thread when its worker dies. */
type Story =
  | 'decided'
  | 'refused'
  | 'undecided'
  | 'expiring'
  | 'opening'
  | 'beginning'
  | 'done'
  | 'before'
  | 'after'
  | 'signalled'
  | 'uncertain'
  | 'overBudget';

describe('a worker process killed with SIGKILL around an approval', () => {
  let cluster: Cluster;
  const threads = {} as Record<Story, string>;
  /** The waits that were open when the worker died, by their thread ids. */
  const waits = new Map<string, string>();
  /** Exit codes of decisions made while no worker ran, and what the ledger had of the action then. */
  const said = { approve: -1, deny: -1, approveDenied: -1, approveExpired: -1, written: [] as string[] };
  let deaths = 0;

  const ask = (tool = 'refund', agent = 'clerk') => cluster.begin(`use ${tool} 1`, agent);
  const killAll = async () => {
    await killWorkers(cluster);
    deaths += 1;
  };
  const stateOf = async (threadId: string) =>
    (await cluster.client.listActions({ threadId })).map(({ state }) => state);
  const countOf = async (thread: string, type: string) =>
    (await cluster.store.events.read(thread, 0)).filter((event) => event.type === type).length;

  /** Begins a thread, and returns the id of its open approval wait. */
  async function asked(story: Story): Promise<string> {
    const thread = await ask();
    threads[story] = thread;
    const { id } = await openWait(cluster, thread);
    waits.set(thread, id);
    return id;
  }

  const approve = (id: string) => decide(cluster, id, '--approve');

  /** Each thread is at its place, or waits, when the only worker dies. */
  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.keep(1);
    const unanswered: Story[] = ['decided', 'refused', 'undecided'];
    for (const story of unanswered) await asked(story);
    threads.opening = await standAt(cluster, 'wait_opened', () => ask());
    const answering: [Story, Parameters<typeof standAt>[1]][] = [
      ['beginning', 'tool_not_begun'],
      ['done', 'tool_committed'],
      ['before', 'body_before'],
      ['after', 'body_after'],
    ];
    for (const [story, point] of answering) {
      const id = await asked(story);
      await standAt(cluster, point, () => approve(id));
    }
    threads.uncertain = await standAt(cluster, 'body_after', () => ask('refund', 'auditor'));
    const messages = [{ content: 'use refund 1', context: { budget: { maxToolCalls: 0 } } }];
    const { threadId } = await standAt(cluster, 'tool_not_begun', () =>
      cluster.client.startThread({ agent: 'clerk', messages }),
    );
    threads.overBudget = threadId;
    threads.expiring = await ask('hasty');
    const hasty = await eventually('a wait', async () => {
      const events = await cluster.store.events.read(threads.expiring, 0);
      const opened = events.find(({ type }) => type === 'wait.opened');
      return opened?.type === 'wait.opened' && opened.data.waitId;
    });
    // Last: its answer is stored, so the thread goes on by itself some time later, and would stand at another's place.
    const id = await asked('signalled');
    const workflow = cluster.client.temporal.workflow.getHandle(`thread/${threads.signalled}`);
    await standAt(cluster, 'wait_answered', () =>
      workflow.signal(answerWait, { id, answer: { approved: true } }),
    );
    await killAll();
    const waitOf = (story: Story) => waits.get(threads[story]) as string;
    said.approve = await decide(cluster, waitOf('decided'), '--approve', '--by', 'ada');
    said.written = cluster.ledger(threads.decided);
    said.deny = await decide(cluster, waitOf('refused'), '--deny', '--reason', 'too much');
    said.approveDenied = await approve(waitOf('refused'));
    await eventually('its time is up', async () => (await cluster.client.getWait(hasty)).state !== 'open');
    said.approveExpired = await approve(hasty);
    await cluster.keep(1);
  }, 300_000);
  afterAll(() => cluster?.close());

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

  it('[PL-09] during a wait decided without a worker: the next one runs the call once, with the arguments shown', async () => {
    const { summary, data } = await cluster.client.getWait(waits.get(threads.decided) as string);
    expect({ summary, data }).toMatchObject({ summary: 'Refunds 1', data: { arguments: { line: '1' } } });
    expect(said).toMatchObject({ approve: 0, written: [] });
    await expectDoneOnce(threads.decided);
  });

  it("[PL-09] right after the wait's transaction: the next worker finds that wait and opens no second one", async () => {
    expect(await approve((await openWait(cluster, threads.opening)).id)).toBe(0);
    await expectDoneOnce(threads.opening);
  });

  it('[PL-09] as it starts a call just approved: the next worker runs it', () =>
    expectDoneOnce(threads.beginning));

  it('[PL-09] right after it stored a signalled answer: the answer counts once', async () => {
    await expectDoneOnce(threads.signalled);
    expect(await countOf(threads.signalled, 'wait.answered')).toBe(1);
    expect(await countOf(threads.signalled, 'item.rejected')).toBe(0);
  });

  it('[PL-25] once the result of an approved call is stored: it is kept, and the call is not repeated', () =>
    expectDoneOnce(threads.done));

  it.each<['before' | 'after', string[]]>([
    ['before', []],
    ['after', ['1']],
  ])(
    '[PL-26] inside an approved call, %s its side effect: it is uncertain, the model is told, and it never runs again',
    async (when, written) => {
      const thread = threads[when];
      await cluster.client.waitForIdle(thread);
      expect(cluster.ledger(thread)).toEqual(written);
      expect(await stateOf(thread)).toEqual(['uncertain']);
      expect((await cluster.transcript(thread))[2]).toMatch(
        /^tool refund error: .*outcome of this call is unknown/,
      );
      expect(await countOf(thread, 'wait.opened')).toBe(1);
    },
  );

  it("[PL-26] with `onUncertain: 'wait'`, inside a call: its thread waits for a reconciliation across workers, then continues", async () => {
    const thread = threads.uncertain;
    const { id, kind, data } = await openWait(cluster, thread);
    expect([kind, data, await stateOf(thread)]).toMatchObject([
      'reconcile',
      { actionId: `${thread}:1:0`, arguments: { line: '1' } },
      ['uncertain'],
    ]);
    await killAll();
    // An approval does not say what the outcome of the action was.
    expect(await decide(cluster, id, '--approve')).toBe(2);
    const said = ['--completed', '--note', 'in the books', '--by', 'Ada'];
    expect(await command(cluster, 'actions', 'reconcile', `${thread}:1:0`, ...said)).toMatchObject({
      code: 0,
    });
    await cluster.keep(1);
    expect(await cluster.client.waitForIdle(thread)).toMatchObject({ status: 'idle', lastError: null });
    expect([cluster.ledger(thread), await stateOf(thread)]).toEqual([['1'], ['reconciled']]);
    expect((await cluster.transcript(thread))[2]).toMatch(
      /^tool refund .*Ada reports that it took effect: in the books/,
    );
    expect(await countOf(thread, 'tool.started')).toBe(1);
  });

  it('[PL-09] during a wait: a call denied meanwhile does not run', async () => {
    expect(said).toMatchObject({ deny: 0, approveDenied: 1 });
    expect(await cluster.client.waitForIdle(threads.refused)).toMatchObject({ status: 'idle' });
    await expectNothingDone(threads.refused, ['denied']);
  });

  it('[PL-09] during a wait: a call that expires meanwhile does not run', async () => {
    expect(said).toMatchObject({ approveExpired: 1 });
    const atRest = async () => (await cluster.client.waitForIdle(threads.expiring)).status === 'idle';
    await eventually('rest', atRest);
    await expectNothingDone(threads.expiring, ['denied']);
  });

  it('[PL-17] as it would start a call denied by its budget: no approval is asked for, and nothing runs', async () => {
    const thread = threads.overBudget;
    expect(await cluster.client.waitForIdle(thread)).toMatchObject({
      status: 'failed',
      lastError: { code: 'BudgetExceeded' },
    });
    await expectNothingDone(thread, []);
    expect(await countOf(thread, 'wait.opened')).toBe(0);
  });

  it('[PL-09] repeatedly during a wait: an undecided call does not run, and waits under the same id', async () => {
    const thread = threads.undecided;
    const id = waits.get(thread) as string;
    // Deaths in the other tests affected this thread as well.
    while (deaths < 3) {
      await killAll();
      await cluster.keep(1);
    }
    expect((await openWait(cluster, thread)).id).toBe(id);
    await expectNothingDone(thread, ['requested']);
    expect(await approve(id)).toBe(0);
    await expectDoneOnce(thread);
  });
});
