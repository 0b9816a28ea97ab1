/** Floods of messages against continue-as-new and a killed worker (runtime §9). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LIMITS } from '../../src/core/value/limit.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { faultScript } from '../support/fault-project.ts';
import { readRuns } from '../support/run-chain.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

const SENDERS = 10;
/** Milliseconds for the gate to open: longer than everything that the test waits for before it opens the gate. */
const GATE_MS = 120_000;

export interface Flood {
  /** Number of pauses of the senders: the server refuses to complete a run while signals keep arriving. */
  readonly rounds: number;
  /** Messages of one sender, over all rounds. */
  readonly each: number;
  readonly historySoftLimit: number;
  /** Number of messages of 20 KiB queued behind one slow step; a worker is killed after half of them. */
  readonly waiting: number;
}

export function describeQueueFlood({ rounds, each, historySoftLimit, waiting }: Flood): void {
  describe(`${SENDERS * each} messages from ${SENDERS} concurrent senders`, () => {
    it("are stored once and in each sender's order while the thread continues as new repeatedly", async () => {
      const runtime = await testRuntime({
        model: scriptedModel(() => says('noted')),
        configuration: { historySoftLimit },
      });
      const thread = await runtime.start();
      const send = (sender: number, index: number) =>
        runtime.client.queueMessage(thread, { id: `${sender}:${index}`, content: `${sender}:${index}` });
      const sendPart = async (sender: number, round: number) => {
        const first = (round * each) / rounds;
        for (let index = first; index < first + each / rounds; index++) {
          await send(sender, index);
          if (index % 10 === 0) await send(sender, index);
        }
        // In later rounds the workflow has long forgotten this id, but the store knows it.
        await send(sender, 0);
      };
      for (let round = 0; round < rounds; round++) {
        await Promise.all(Array.from({ length: SENDERS }, (_, sender) => sendPart(sender, round)));
        await runtime.client.waitForIdle(thread);
      }
      const contents = (await runtime.messages(thread))
        .filter(({ role }) => role === 'user')
        .map(({ content }) => content);
      expect(contents).toHaveLength(SENDERS * each);
      for (let sender = 0; sender < SENDERS; sender++) {
        const own = contents.filter((content) => content?.startsWith(`${sender}:`));
        expect(own).toEqual(Array.from({ length: each }, (_, index) => `${sender}:${index}`));
      }
      // The thread rests in the store, but its run may still be about to continue as new.
      const runs = await eventually('more runs than pauses', async () => {
        const read = await readRuns(runtime.client, thread);
        return read.length > rounds && read;
      });
      expect(Math.max(...runs.map(({ inputBytes }) => inputBytes))).toBeLessThan(LIMITS.carriedBytes);
      expect((await runtime.client.getThread(thread)).status).toBe('idle');
    });
  });

  describe(`${waiting} messages of 20 KiB behind one slow step`, () => {
    let cluster: Cluster;
    let opened = false;
    const gate = () => eventually('the gate', () => opened, GATE_MS).then(() => undefined);
    const contentOf = (index: number) => `${index}:`.padEnd(20 * 1024, 'x');

    beforeAll(async () => {
      cluster = await startCluster({ script: faultScript(gate), configuration: { historySoftLimit: 50 } });
      await cluster.keep(2);
    });
    afterAll(() => cluster?.close());

    it('are held in the store instead of the workflow, and survive a killed worker and a continue-as-new', async () => {
      const thread = await cluster.begin('wait');
      await eventually('the model to be asked', () => cluster.model.requests.length > 0);
      const handle = cluster.client.temporal.workflow.getHandle(`thread/${thread}`);
      const send = (index: number) => handle.signal('queueMessage', { content: contentOf(index) });
      for (let index = 0; index < waiting / 2; index++) await send(index);
      await cluster.workers[0]?.end('SIGKILL');
      for (let index = waiting / 2; index < waiting; index++) await send(index);
      const queued = async () =>
        (await cluster.messages(thread)).filter(({ metadata }) => metadata.queued === true);
      await eventually('all to be pending', async () => (await queued()).length === waiting);
      opened = true;
      await eventually('all to be taken', async () => (await queued()).length === 0);
      await cluster.client.waitForIdle(thread);
      const contents = (await cluster.messages(thread))
        .filter(({ role }) => role === 'user')
        .map(({ content }) => content);
      expect(contents).toEqual(['wait', ...Array.from({ length: waiting }, (_, index) => contentOf(index))]);
      const runs = await eventually('the next run', async () => {
        const read = await readRuns(cluster.client, thread);
        return read.some(({ continued }) => continued) && read;
      });
      const carried = runs.filter(({ continued }) => continued).map(({ inputBytes }) => inputBytes);
      expect(Math.max(...carried)).toBeLessThan(LIMITS.carriedBytes);
    });
  });
}
