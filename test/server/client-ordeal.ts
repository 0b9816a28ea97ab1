/**
 * Third-party clients, each on its own endpoint, receive turn after turn while their connections are cut at random and
 * workers and the API process are killed: each has exactly the text that was committed, once, in order, with one end,
 * and a thread has each turn once.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { cuttingProxy } from '../support/cutting-proxy.ts';
import type { Cluster } from '../support/fault-cluster.ts';
import { PATIENCE } from '../support/killing.ts';
import { OTHERS_CLIENTS, type OthersClient } from '../support/others-clients.ts';
import { closeAfterTest } from '../support/runtime.ts';
import type { Random } from '../support/seeded-random.ts';

/** Maximum number of bytes between two cuts: some of a client's connections last until an end, most do not. */
const MOST_BYTES = 5000;

export interface ClientOrdeal {
  readonly cluster: Cluster;
  readonly url: string;
  readonly random: Random;
  /** Number of connections to cut, for each client. */
  readonly cuts: number;
  readonly threads: number;
  readonly mayEnd: () => boolean;
  readonly answerTo: (said: string) => string;
}

/** Turns received and attempts cut off, by client. */
export type Figures = Readonly<Record<string, { readonly turns: number; readonly brokenOff: number }>>;

export async function tellByOthers(ordeal: ClientOrdeal): Promise<Figures> {
  const figures = Object.entries(OTHERS_CLIENTS).map(
    async ([name, client]) => [name, await tellBy(name, client, ordeal)] as const,
  );
  return Object.fromEntries(await Promise.all(figures));
}

async function tellBy(name: string, client: OthersClient, ordeal: ClientOrdeal) {
  const { cuts, threads, url } = ordeal;
  const random = ordeal.random.split(name);
  const proxy = await cuttingProxy(url);
  proxy.cut(...Array.from({ length: cuts }, () => 1 + random.below(MOST_BYTES)));
  const isOver = () => ordeal.mayEnd() && proxy.cuts >= cuts;
  let failed = false;
  closeAfterTest(async () => {
    failed = true;
  });
  let turns = 0;
  let brokenOff = 0;
  await Promise.all(
    Array.from({ length: threads }, async () => {
      let threadId: string = randomUUID();
      const before: [string, string][] = [];
      while (before.length < 2 || !isOver()) {
        const said = `turn-${before.length}`;
        const id = `${threadId.slice(0, 40)}-${before.length}`;
        const attempt = client({ url: proxy.url, threadId, before, text: said, id });
        let told = await attempt().catch(forCut);
        for (; !told; told = await attempt().catch(forCut)) {
          // Another part of the test has failed, and nothing answers any more.
          if (failed) return;
          brokenOff += 1;
          await delay(20);
        }
        threadId = told.threadId;
        expect([name, said, told.text]).toEqual([name, said, ordeal.answerTo(said)]);
        before.push([said, told.text]);
        turns += 1;
      }
      await expectOnce(ordeal.cluster, threadId, before);
    }),
  );
  return { turns, brokenOff };
}

/** A failed assertion is thrown on; any other error counts as a cut. */
function forCut(error: unknown): null {
  if (error instanceof Error && 'matcherResult' in error) throw error;
  return null;
}

async function expectOnce(
  { client }: Cluster,
  threadId: string,
  turns: readonly (readonly [string, string])[],
): Promise<void> {
  await client.waitForIdle(threadId, { timeoutMs: PATIENCE[0] });
  const { messages } = await client.getMessages(threadId, { limit: 1000 });
  expect(messages.map(({ content }) => content)).toEqual(turns.flat());
  expect(await client.listExecutions({ threadId, limit: 1000 })).toHaveLength(turns.length);
}
