/**
 * An agent elsewhere is asked once, though the worker that asks it dies before it is answered: between a message and the id of its task, and between an answer
 * and what becomes of it. What a peer remembers (support/a2a-peer.ts) says whether the call goes on, or ends by saying that nobody knows.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { calls, says } from '../../src/testing/index.ts';
import { type A2aPeer, type PeerKind, startA2aPeer } from '../support/a2a-peer.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';

const KINDS = ['keeps', 'forgets', 'once'] as const;

let peer: A2aPeer;
let cluster: Cluster;

beforeAll(async () => {
  peer = await startA2aPeer();
  const peers = KINDS.map((kind) => [kind, { url: `${peer.origin}/${kind}`, idempotent: kind === 'once' }]);
  cluster = await startCluster({
    program: join(import.meta.dirname, 'two-everthreads-worker.ts'),
    environment: { EVERTHREAD_TEST_PEERS: JSON.stringify(Object.fromEntries(peers)) },
    script({ messages }) {
      const last = messages.at(-1);
      if (last?.role !== 'user') return says(`told: ${last?.content}`);
      const [kind, message] = String(last.content).split(': ');
      return calls(`a2a__${kind}`, { message });
    },
  });
  await cluster.keep(1);
});
afterAll(async () => {
  await cluster?.close();
  peer?.close();
});

async function replaceWorker(): Promise<void> {
  await cluster.workers[0]?.end('SIGKILL');
  await cluster.keep(1);
}

const result = async (id: string) => (await cluster.transcript(id)).find((line) => line.startsWith('tool'));
/** What has come to it from this test, where no two say the same. */
const heard = (kind: PeerKind, text: string) => peer.heard(kind).filter((each) => each.text === text);
const done = (kind: PeerKind, text: string) => peer.done(kind).filter((each) => each.includes(text));

describe('an agent elsewhere whose asker is killed', () => {
  it.each([
    ['keeps', 'tool a2a__keeps success: did dig', 1],
    ['once', 'tool a2a__once success: did dig', 2],
    ['forgets', expect.stringMatching(/^tool a2a__forgets error: .*unknown/i), 1],
  ] as const)(
    'between its message and the id of its task: one that %s is known by the message’s id, or the outcome is unknown; it does it once',
    async (kind, expected, times) => {
      const held = peer.holdNext(kind, 'taken');
      const id = await cluster.begin(`${kind}: dig`);
      await held;
      await replaceWorker();
      await cluster.client.waitForIdle(id);
      expect(await result(id)).toEqual(expected);
      expect(heard(kind, 'dig')).toHaveLength(times);
      expect(new Set(heard(kind, 'dig').map(({ messageId }) => messageId)).size).toBe(1);
      expect(done(kind, 'dig')).toHaveLength(1);
      // Whose outcome is unknown can be looked after by people.
      const uncertain = (await cluster.store.events.read(id, 0)).filter(
        ({ type }) => type === 'tool.unknown',
      );
      expect(uncertain).toHaveLength(kind === 'forgets' ? 1 : 0);
    },
  );

  const openWait = (id: string) =>
    eventually('its question', async () => {
      const [wait] = await cluster.client.listWaits({ threadId: id });
      return wait?.state === 'open' ? wait.id : undefined;
    });

  it.each(KINDS)(
    'while it asks: the answer is taken without a worker, and sent once, to one that %s',
    async (kind) => {
      const id = await cluster.begin(`${kind}: ask one`);
      const wait = await openWait(id);
      await cluster.workers[0]?.end('SIGKILL');
      await cluster.client.answerWait(wait, { value: 'Ada' });
      await cluster.keep(1);
      await cluster.client.waitForIdle(id);
      expect(await result(id)).toBe(`tool a2a__${kind} success: did ask one Ada`);
      expect(heard(kind, 'Ada')).toHaveLength(1);
    },
  );

  it.each(KINDS)('behind an answer that was heard, by one that %s: it is not sent again', async (kind) => {
    const id = await cluster.begin(`${kind}: ask two`);
    const wait = await openWait(id);
    const held = peer.holdNext(kind, 'taken');
    await cluster.client.answerWait(wait, { value: 'Bo' });
    await held;
    await replaceWorker();
    await cluster.client.waitForIdle(id);
    expect(await result(id)).toBe(`tool a2a__${kind} success: did ask two Bo`);
    expect(heard(kind, 'Bo')).toHaveLength(1);
  });

  it.each(['forgets', 'once'] as const)(
    'behind an answer that was lost: to one that %s it is sent again only where that does no harm, else people are asked anew',
    async (kind) => {
      const id = await cluster.begin(`${kind}: ask three`);
      const wait = await openWait(id);
      const held = peer.holdNext(kind, 'lost');
      await cluster.client.answerWait(wait, { value: 'Cy' });
      await held;
      await replaceWorker();
      if (kind === 'forgets') {
        const again = await openWait(id);
        expect(again).not.toBe(wait);
        expect(heard(kind, 'Cy')).toHaveLength(1);
        await cluster.client.answerWait(again, { value: 'Di' });
      }
      await cluster.client.waitForIdle(id);
      const name = kind === 'forgets' ? 'Di' : 'Cy';
      expect(await result(id)).toBe(`tool a2a__${kind} success: did ask three ${name}`);
      expect(heard(kind, 'Cy')).toHaveLength(kind === 'forgets' ? 1 : 2);
    },
  );
});
