/**
 * Processes that fork a long thread are killed at random: each fork is whole or not there, and the same request again makes it
 * whole. `EVERTHREAD_FAULT_KILLS` is the number of kills (default 200).
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startClient } from '../support/dying-client.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { seededRandom } from '../support/seeded-random.ts';

const KILLS = Number(process.env.EVERTHREAD_FAULT_KILLS || 200);
const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_129);
const MESSAGES = 20_000;
/** About twice what a fork of them takes. */
const WINDOW_MS = 1000;

describe(`forks of a thread with ${MESSAGES} messages`, () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.keep(1);
  });
  afterAll(() => cluster?.close());

  it(`are whole or not there after ${KILLS} kills (seed ${SEED})`, async () => {
    const { client, folder } = cluster;
    const threadId = await cluster.begin('hello');
    await client.waitForIdle(threadId);
    await client.store.files.write(threadId, {
      path: '/a.txt',
      content: new TextEncoder().encode('by reference'),
      mimeType: 'text/plain',
    });
    const beside = new DatabaseSync(join(folder, 'store.db'), { timeout: 20_000 });
    const columns = (
      beside.prepare('select name from pragma_table_info(?)').all('messages') as { name: string }[]
    )
      .map(({ name }) => name)
      .filter((name) => name !== 'id' && name !== 'created_at');
    beside
      .prepare(
        `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
         insert into messages (id, created_at, ${columns}) select 'm' || i, m.created_at - i, ${columns.map((c) => `m.${c}`)}
         from n, messages m where m.thread_id = ? and m.role = 'user' order by i desc`,
      )
      .run(MESSAGES - 2, threadId);
    beside.prepare('update threads set message_count = ? where id = ?').run(MESSAGES, threadId);
    const rows = (id: string) =>
      (beside.prepare('select count(*) as n from messages where thread_id = ?').get(id) as { n: number }).n;
    const random = seededRandom(SEED);
    const seen = { whole: 0, absent: 0 };
    for (let n = 0; n < KILLS; n += 1) {
      const forkId = `fork-${n}`;
      const child = startClient(cluster, { threadId, request: { fork: { threadId: forkId } } });
      const exit = once(child, 'exit');
      await once(child.stdout, 'data');
      await Promise.race([exit, delay(random.below(WINDOW_MS))]);
      child.kill('SIGKILL');
      await exit;
      const there = rows(forkId);
      expect([forkId, [0, MESSAGES + 1].includes(there)]).toEqual([forkId, true]);
      const thread = await client.store.threads.get(forkId);
      expect([forkId, thread?.messageCount ?? 0]).toEqual([forkId, there]);
      seen[thread ? 'whole' : 'absent'] += 1;
      expect(await client.forkThread(threadId, { threadId: forkId })).toMatchObject({ messages: MESSAGES });
      expect(rows(forkId)).toBe(MESSAGES + 1);
      // Its rows would only make the store long.
      await client.deleteThread(forkId);
    }
    const names = beside.prepare('select names from blobs').all() as { names: number }[];
    beside.close();
    expect(names).toEqual([{ names: 1 }]);
    process.stdout.write(`${KILLS} kills: ${seen.whole} forks were whole, ${seen.absent} not there\n`);
    expect(Math.min(seen.whole, seen.absent)).toBeGreaterThan(0);
  });
});
