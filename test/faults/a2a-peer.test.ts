/**
 * A remote agent does each piece of work once, even if the worker that asks for it dies before the answer arrives:
 * between a message and the id of its task, or between an answer and its outcome. What a peer remembers
 * (support/a2a-peer.ts) decides whether the call goes on or ends with an unknown outcome.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { calls, says } from '../../src/testing/index.ts';
import { type A2aPeer, type PeerKind, startA2aPeer } from '../support/a2a-peer.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { killWorkers } from '../support/standing.ts';

const KINDS = ['keeps', 'forgets', 'once'] as const;

/** Kinds of peers for which the loss of an answer is tested. */
const LOSING = ['forgets', 'once'] as const;

let peer: A2aPeer;
let cluster: Cluster;

const openWait = (id: string) =>
  eventually('its question', async () => {
    const [wait] = await cluster.client.listWaits({ threadId: id });
    return wait?.state === 'open' ? wait.id : undefined;
  });

/** Thread ids by the message that the thread began with. */
const threads = new Map<string, string>();
const threadOf = (kind: PeerKind, message: string) => threads.get(`${kind}: ${message}`) as string;
/** The questions that were open when the worker died. */
const waits = new Map<string, string>();

async function begin(kind: PeerKind, message: string): Promise<string> {
  const said = `${kind}: ${message}`;
  const id = await cluster.begin(said);
  threads.set(said, id);
  return id;
}

/** Begins a thread and resolves once the peer has asked its question (whom the work is for). */
async function beginAsked(kind: PeerKind, message: string): Promise<string> {
  const id = await begin(kind, message);
  waits.set(id, await openWait(id));
  return id;
}

/** Answers the open question and resolves once the peer holds the answer: it is then received (`taken`) or lost. */
async function answerHeld(id: string, value: string, kind: PeerKind, what: 'taken' | 'lost'): Promise<void> {
  const held = peer.holdNext(kind, what);
  await cluster.client.answerWait(waits.get(id) as string, { value });
  await held;
}

/** Brings every call to the place where its test needs it when the only worker dies. */
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
  for (const kind of KINDS) {
    await beginAsked(kind, 'ask one');
    await beginAsked(kind, 'ask two');
  }
  for (const kind of LOSING) await beginAsked(kind, 'ask three');
  for (const kind of KINDS) {
    await answerHeld(threadOf(kind, 'ask two'), 'Bo', kind, 'taken');
    const held = peer.holdNext(kind, 'taken');
    await begin(kind, 'dig');
    await held;
  }
  for (const kind of LOSING) await answerHeld(threadOf(kind, 'ask three'), 'Cy', kind, 'lost');
  await killWorkers(cluster);
  for (const kind of KINDS)
    await cluster.client.answerWait(waits.get(threadOf(kind, 'ask one')) as string, { value: 'Ada' });
  await cluster.keep(1);
}, 300_000);
afterAll(async () => {
  await cluster?.close();
  peer?.close();
});

const result = async (id: string) => (await cluster.transcript(id)).find((line) => line.startsWith('tool'));
/** Messages with this text that the peer has received; each test uses its own texts. */
const heard = (kind: PeerKind, text: string) => peer.heard(kind).filter((each) => each.text === text);
const done = (kind: PeerKind, text: string) => peer.done(kind).filter((each) => each.includes(text));

describe('a remote A2A agent whose calling worker is killed', () => {
  it.each([
    ['keeps', 'tool a2a__keeps success: did dig', 1],
    ['once', 'tool a2a__once success: did dig', 2],
    ['forgets', expect.stringMatching(/^tool a2a__forgets error: .*unknown/i), 1],
  ] as const)(
    'between a message and its task id: a peer that %s identifies it by message id or the outcome is unknown; it runs once',
    async (kind, expected, times) => {
      const id = threadOf(kind, 'dig');
      await cluster.client.waitForIdle(id);
      expect(await result(id)).toEqual(expected);
      expect(heard(kind, 'dig')).toHaveLength(times);
      expect(new Set(heard(kind, 'dig').map(({ messageId }) => messageId)).size).toBe(1);
      expect(done(kind, 'dig')).toHaveLength(1);
      // A call whose outcome is unknown has an event, so that people can settle it.
      const uncertain = (await cluster.store.events.read(id, 0)).filter(
        ({ type }) => type === 'tool.unknown',
      );
      expect(uncertain).toHaveLength(kind === 'forgets' ? 1 : 0);
    },
  );

  it.each(KINDS)(
    'while the peer asks: the answer is accepted without a worker and sent once to a peer that %s',
    async (kind) => {
      const id = threadOf(kind, 'ask one');
      await cluster.client.waitForIdle(id);
      expect(await result(id)).toBe(`tool a2a__${kind} success: did ask one Ada`);
      expect(heard(kind, 'Ada')).toHaveLength(1);
    },
  );

  it.each(KINDS)('after an answer that arrived: it is not sent again to a peer that %s', async (kind) => {
    const id = threadOf(kind, 'ask two');
    await cluster.client.waitForIdle(id);
    expect(await result(id)).toBe(`tool a2a__${kind} success: did ask two Bo`);
    expect(heard(kind, 'Bo')).toHaveLength(1);
  });

  it.each(LOSING)(
    'after an answer that was lost: a peer that %s gets it again only if that is safe, else the person is asked again',
    async (kind) => {
      const id = threadOf(kind, 'ask three');
      if (kind === 'forgets') {
        const again = await openWait(id);
        expect(again).not.toBe(waits.get(id));
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
