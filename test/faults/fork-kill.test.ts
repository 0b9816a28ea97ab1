/** The process that forks a thread, and the worker that goes on with the fork, are killed: there is no half fork, and one answer. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dieAt } from '../support/dying-client.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';

describe('a fork', () => {
  let cluster: Cluster;
  let threadId: string;
  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.keep(1);
    threadId = await cluster.begin('use write 1');
    await cluster.client.waitForIdle(threadId);
  });
  afterAll(() => cluster?.close());

  const request = (id: string) => ({ threadId: id, message: { content: 'hello' } });

  function countRows(forkId: string): number {
    const beside = new DatabaseSync(join(cluster.folder, 'store.db'), { readOnly: true });
    const { n } = beside.prepare('select count(*) as n from messages where thread_id = ?').get(forkId) as {
      n: number;
    };
    beside.close();
    return n;
  }

  async function expectOne(forkId: string): Promise<void> {
    await cluster.client.waitForIdle(forkId);
    expect(await cluster.transcript(forkId)).toEqual([
      'user: use write 1',
      'assistant:  -> write',
      'tool write success: wrote 1',
      'assistant: Answered "use write 1" after 1 tool results.',
      expect.stringMatching(/^user: This conversation is a fork of the thread/),
      'user: hello',
      'assistant: Answered "hello" after 0 tool results.',
    ]);
    expect(cluster.ledger(threadId)).toEqual(['1']);
    expect(cluster.ledger(forkId)).toEqual([]);
  }

  it.each(['in', 'behind'] as const)(
    'is whole or not there if its process dies %s the transaction',
    async (point) => {
      const forkId = `fork-${point}`;
      await dieAt(point, cluster, { threadId, request: { fork: request(forkId) } });
      // The messages and the note, or nothing.
      expect(countRows(forkId)).toBe(point === 'in' ? 0 : 5);
      const found = cluster.client.getThread(forkId);
      if (point === 'in') await expect(found).rejects.toMatchObject({ code: 'ThreadNotFound' });
      else expect(await found).toMatchObject({ forkedFrom: { threadId, step: 2 }, messageCount: 5 });
      await cluster.client.forkThread(threadId, request(forkId));
      await expectOne(forkId);
      await cluster.client.forkThread(threadId, request(forkId));
      await expectOne(forkId);
    },
    120_000,
  );

  it('has one answer if the worker dies before it is stored', async () => {
    cluster.orderDeath('model_answered');
    await cluster.client.forkThread(threadId, request('fork-worker'));
    await cluster.died('model_answered');
    await cluster.keep(1);
    await expectOne('fork-worker');
  }, 120_000);
});
