/**
 * A worker is killed around an approval with changed arguments, or of a tool: the call runs once with what was approved,
 * and never with what nobody has approved.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Wait } from '../../src/store/wait/wait-record.ts';
import { command, decide, openWait } from '../support/approvals.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import type { DeathPoint } from '../support/fault-project.ts';
import { killWorkers, standAt } from '../support/standing.ts';

describe('a worker process killed with SIGKILL around an approval that changes or grants', () => {
  let cluster: Cluster;
  const threads: Record<string, string> = {};

  /** `refund` shows its line in its description, so that a change of it is shown once more. */
  const begin = () => cluster.begin('use refund 1', 'clerk');
  const answer = async ({ id }: Wait, given?: object) => {
    const decision = { approved: true, ...(given && { arguments: given }) };
    expect(await cluster.client.answerWait(id, decision as { approved: true })).toEqual({ outcome: 'taken' });
  };
  /** The wait that is opened after this one. */
  const next = (thread: string, { id }: Wait) =>
    eventually('a further wait', async () => {
      const wait = await openWait(cluster, thread);
      return wait.id === id ? undefined : wait;
    });

  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.keep(1);
    const first = async (name: string) => {
      threads[name] = await begin();
      return openWait(cluster, threads[name]);
    };
    await standAt(cluster, 'wait_opened', async () => answer(await first('shown again'), { line: '2' }));
    await standAt(cluster, 'wait_opened', async () => answer(await first('not accepted'), { line: 2 }));
    for (const point of ['tool_not_begun', 'tool_committed'] satisfies DeathPoint[]) {
      const wait = await first(point);
      await answer(wait, { line: '2' });
      const second = await next(threads[point] as string, wait);
      await standAt(cluster, point, () => answer(second));
    }
    const undecided = await first('without a worker');
    const granted = await first('granted');
    await killWorkers(cluster);
    const grant = ['--approve', '--scope', 'thread', '--covers', 'tool'];
    expect(await decide(cluster, granted.id, ...grant)).toBe(0);
    const file = join(cluster.folder, 'changed.json');
    writeFileSync(file, '{"line":"2"}');
    expect(await decide(cluster, undecided.id, '--approve', '--arguments-file', file)).toBe(0);
    await cluster.keep(1);
  }, 300_000);
  afterAll(() => cluster?.close());

  async function expectDone(name: string, line: string, waits: number): Promise<void> {
    const thread = threads[name] as string;
    expect(await cluster.client.waitForIdle(thread)).toMatchObject({ status: 'idle', lastError: null });
    expect(cluster.ledger(thread)).toEqual([line]);
    const events = await cluster.store.events.read(thread, 0);
    const count = (type: string) => events.filter((event) => event.type === type).length;
    expect([count('wait.opened'), count('wait.answered'), count('tool.result')]).toEqual([waits, waits, 1]);
    expect(await cluster.client.listActions({ threadId: thread })).toMatchObject([{ state: 'completed' }]);
  }

  it('granted: further calls of the tool run without an approval, until the grant is revoked', async () => {
    const thread = threads.granted as string;
    await expectDone('granted', '1', 1);
    const say = async (content: string) => {
      await cluster.client.queueMessage(thread, { content });
      return cluster.client.waitForIdle(thread);
    };
    expect(await say('use refund 1')).toMatchObject({ status: 'idle' });
    expect(cluster.ledger(thread)).toEqual(['1', '2.1']);
    const [grant] = await cluster.client.grants.list({ threadId: thread });
    expect((await command(cluster, 'grants', 'list', thread)).code).toBe(0);
    expect((await command(cluster, 'grants', 'revoke', String(grant?.id), '--by', 'ada')).code).toBe(0);
    expect((await command(cluster, 'grants', 'revoke', 'nothing')).code).toBe(3);
    expect(await say('use refund 1')).toMatchObject({ status: 'waiting' });
    expect(cluster.ledger(thread)).toEqual(['1', '2.1']);
  });

  it.each(['shown again', 'without a worker'])('%s: they wait once more, and run once', async (name) => {
    const thread = threads[name] as string;
    const wait = await eventually('the further wait', async () => {
      const open = await openWait(cluster, thread);
      return open.summary === 'Refunds 2' && open;
    });
    await answer(wait);
    await expectDone(name, '2', 2);
  });

  it('not accepted: one wait shows the problem, and the call runs as that one shows', async () => {
    const wait = await openWait(cluster, threads['not accepted'] as string);
    expect(wait.summary).toMatch(/^The changed arguments were refused: .*\nRefunds 1$/s);
    await answer(wait);
    await expectDone('not accepted', '1', 2);
  });

  it.each(['tool_not_begun', 'tool_committed'])('%s: the call runs once, with them', (name) =>
    expectDone(name, '2', 2),
  );
});
