/**
 * A worker is killed around a wait of a subagent for which its parent waits: the parent shows the wait while it is
 * open, and goes on after it.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { calls, says } from '../../src/testing/index.ts';
import { decide } from '../support/approvals.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { isAide } from '../support/fault-family.ts';
import { killWorkers, standAt } from '../support/standing.ts';

describe('a worker process killed with SIGKILL around the wait of a subagent', () => {
  let cluster: Cluster;
  let opening: string;
  let waiting: string;
  let wait: string;

  beforeAll(async () => {
    cluster = await startCluster({
      script: (request) => {
        const settled = request.messages.at(-1)?.role === 'tool';
        if (isAide(request))
          return settled ? calls('finish', { line: 'refunded', files: [] }) : calls('refund', { line: '1' });
        return settled ? says('done') : calls('aide', { line: 'refund it' });
      },
    });
    await cluster.keep(1);
    waiting = await ask();
    ({ id: wait } = await shown(waiting));
    opening = await standAt(cluster, 'wait_opened', ask);
    await killWorkers(cluster);
    await cluster.keep(1);
  });
  afterAll(() => cluster?.close());

  const ask = () => cluster.begin('go', 'clerk');

  /** The open wait that both the parent and its child show. */
  const shown = (parent: string) =>
    eventually('a wait that both show', async () => {
      const [wait] = await cluster.client.listWaits({ threadId: parent });
      if (!wait) return undefined;
      const { client } = cluster;
      const threads = [await client.getThread(parent), await client.getThread(wait.threadId)];
      return threads.every(({ status }) => status === 'waiting') && wait;
    });

  async function expectDone(parent: string, child: string): Promise<void> {
    await eventually('rest', async () => (await cluster.client.waitForIdle(parent)).status === 'idle');
    expect(cluster.ledger(child)).toEqual(['1']);
    const events = await cluster.store.events.read(parent, 0, 1000);
    const told = events.flatMap((event) =>
      event.type === 'wait.opened' || event.type === 'wait.closed' ? [[event.type, event.data.threadId]] : [],
    );
    expect(told).toEqual([
      ['wait.opened', child],
      ['wait.closed', child],
    ]);
  }

  it("[PL-09] right after the wait's transaction: the parent shows the wait once, and continues when it is answered", async () => {
    const { id, threadId } = await shown(opening);
    expect(await decide(cluster, id, '--approve')).toBe(0);
    await expectDone(opening, threadId);
  });

  it('[PL-09] during the wait, and as the approved call starts: the parent shows that wait and no other', async () => {
    const { id, threadId } = await shown(waiting);
    expect(id).toBe(wait);
    cluster.orderDeath('tool_not_begun');
    await decide(cluster, id, '--approve');
    await cluster.died('tool_not_begun');
    await cluster.keep(1);
    await expectDone(waiting, threadId);
  });
});
