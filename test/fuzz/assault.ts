/**
 * An assault on one worker process: seeded attacks on every entry point while twenty healthy threads talk in the same
 * worker. Afterwards the same process is alive, and every healthy turn was answered within `TURN_MS`. Attacked threads
 * that `terminate` does not end are reported.
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { calls, type ScriptFunction, says } from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { replayAll } from '../support/replay-run.ts';
import { type Random, seededRandom } from '../support/seeded-random.ts';
import { serveHostileProvider } from './provider-door.ts';
import { attackWorkflow } from './signal-door.ts';

export interface Assault {
  readonly seed: string;
  /** Seconds during which attacks are begun, unless `attacks` is reached first. */
  readonly seconds?: number;
  readonly attacks?: number;
  readonly healthy?: number;
}

export interface Outcome {
  readonly attacks: number;
  readonly providerAnswers: number;
  readonly turns: number;
  readonly slowestTurnMs: number;
  readonly survived: boolean;
  /** Failures of healthy threads, in words; empty if there are none. */
  readonly failures: readonly string[];
  /** Attacked threads that did not end, with the last events of their histories. */
  readonly stuck: readonly string[];
  /** Histories, of healthy or attacked threads, that a worker without the thread in its memory could not continue. */
  readonly diverged: readonly string[];
}

/** Milliseconds after which a healthy turn counts as hung: at a load of 20 on two cores one took over two minutes. */
const TURN_MS = 300_000;
/**
 * Milliseconds for an attacked thread to end while nothing else runs: its worker may have to read megabytes of history.
 */
const END_MS = 300_000;
const VICTIMS = 6;
/** Concurrent attacks, in addition to the threads' own work. */
const ATTACKERS = 3;

/** A turn has two calls and a text. */
const healthyScript: ScriptFunction = ({ messages }) => {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const results = messages.slice(last).filter(({ role }) => role === 'tool').length;
  return results < 2 ? calls('tick', { line: String(results) }) : says(`Ticked ${results} times.`);
};

export async function assault({
  seed,
  seconds = Number.POSITIVE_INFINITY,
  attacks = Number.POSITIVE_INFINITY,
  healthy = 20,
}: Assault): Promise<Outcome> {
  const random = seededRandom(seed);
  const provider = await serveHostileProvider(random.split('provider'));
  const cluster = await startCluster({
    script: healthyScript,
    program: fileURLToPath(new URL('./fuzz-worker.ts', import.meta.url)),
    environment: { EVERTHREAD_FUZZ_PROVIDER: provider.url },
    // The machine is busy, and no worker is killed on purpose.
    configuration: { modelHeartbeatMs: 60_000, toolHeartbeatMs: 60_000, historySoftLimit: 200 },
  });
  try {
    await cluster.keep(1);
    const [worker] = cluster.workers;
    if (!worker) throw new Error('The worker did not start.');
    const victims = await startVictims(cluster);
    let over = false;
    const threads = Array.from({ length: healthy }, () => live(cluster, () => over));
    const arena = createArena(cluster);
    const attacking = attack({ cluster, arena, victims, random, seconds, attacks }).finally(() => {
      over = true;
    });
    const begun = await attacking;
    const lives = await Promise.allSettled(threads);
    const survived = worker.alive;
    if (survived) {
      await Promise.all(victims.map((victim) => arena.terminate(victim)));
      await arena.seeEnds();
    }
    const lived = lives.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    return {
      attacks: begun,
      providerAnswers: provider.answered(),
      turns: lived.reduce((sum, { turns }) => sum + turns, 0),
      slowestTurnMs: Math.round(Math.max(0, ...lived.map(({ slowest }) => slowest))),
      survived: survived && worker.alive,
      failures: lives.flatMap((each) =>
        each.status === 'rejected' ? [String((each.reason as Error).message)] : [],
      ),
      stuck: arena.stuck,
      diverged: await replayAll(cluster.client, cluster.taskQueue),
    };
  } finally {
    await cluster.close();
    await provider.close();
  }
}

function startVictims({ client }: Cluster): Promise<string[]> {
  const start = () => client.startThread({ agent: 'victim', messages: [{ content: 'begin' }] });
  return Promise.all(Array.from({ length: VICTIMS }, async () => (await start()).threadId));
}

interface Attack {
  readonly cluster: Cluster;
  readonly arena: Arena;
  readonly victims: string[];
  readonly random: Random;
  readonly seconds: number;
  readonly attacks: number;
}

/** Returns the number of attacks begun. Attack number n of a seed is the same whatever came before it. */
async function attack({ cluster, arena, victims, random, seconds, attacks }: Attack): Promise<number> {
  const end = performance.now() + seconds * 1000;
  const { client } = cluster;
  let begun = 0;
  const attacker = async () => {
    while (performance.now() < end && begun < attacks) {
      const own = random.split(begun++);
      const place = own.below(victims.length);
      await attackWorkflow(
        {
          client: client.temporal,
          namespace: client.temporal.options.namespace,
          taskQueue: cluster.taskQueue,
          victims: [victims[place] as string],
        },
        own,
      );
      // Attacks that stop or refill a thread would otherwise block the other entry points, so messages are sent to it
      // again at times.
      if (own.chance(0.1))
        await client.queueMessage(victims[place] as string, { content: 'go on' }).catch(() => undefined);
      if (own.chance(0.01)) victims[place] = await renew(cluster, arena, victims[place] as string);
    }
  };
  await Promise.all(Array.from({ length: ATTACKERS }, attacker));
  return begun;
}

/** Terminates a thread that was attacked for long enough, and starts its replacement. */
async function renew(cluster: Cluster, arena: Arena, victim: string): Promise<string> {
  await arena.terminate(victim);
  return (await cluster.client.startThread({ agent: 'victim', messages: [{ content: 'begin' }] })).threadId;
}

interface Arena {
  readonly stuck: string[];
  terminate(threadId: string): Promise<void>;
  /** Waits until all terminated threads have ended; called when nothing else runs. */
  seeEnds(): Promise<void>;
}

function createArena({ client }: Cluster): Arena {
  const stuck: string[] = [];
  const told = new Map<string, string>();
  return {
    stuck,
    async terminate(threadId) {
      const answer = await client.terminate(threadId, 'attacked long enough').then(
        () => 'accepted',
        (error: Error) => error.message,
      );
      told.set(threadId, answer);
    },
    async seeEnds() {
      for (const [threadId, answer] of told) {
        const handle = client.temporal.workflow.getHandle(`thread/${threadId}`);
        const hasEnded = async () => (await handle.describe()).status.name !== 'RUNNING';
        await eventually('its end', hasEnded, END_MS).catch(async () => {
          stuck.push(`${threadId}: terminate ${answer}; ${await lastEvents(client, threadId)}`);
        });
      }
    },
  };
}

/** The last events of a thread that goes on; its whole history is written to a file, to be replayed. */
async function lastEvents(client: Cluster['client'], threadId: string): Promise<string> {
  const history = await client.temporal.workflow.getHandle(`thread/${threadId}`).fetchHistory();
  const file = join(tmpdir(), `everthread-fuzz-${threadId}.json`);
  writeFileSync(file, historyToJSON(history));
  const told = (history.events ?? []).slice(-12).map((event) => {
    const failed = event.workflowTaskFailedEventAttributes?.failure;
    const signal = event.workflowExecutionSignaledEventAttributes?.signalName;
    return `${event.eventId} ${event.eventType}${signal ? ` ${signal}` : ''}${failed ? ` ${failed.message} ${failed.stackTrace}` : ''}`;
  });
  return `${told.join('; ').slice(0, 3000)}; its history: ${file}`;
}

interface Life {
  readonly turns: number;
  readonly slowest: number;
}

async function live(cluster: Cluster, over: () => boolean): Promise<Life> {
  const { client } = cluster;
  const threadId = randomUUID();
  await client.startThread({ agent: 'helper', threadId });
  let turns = 0;
  let slowest = 0;
  while (!over() || turns === 0) {
    const begun = performance.now();
    await client.queueMessage(threadId, { content: `turn ${turns}` });
    const { status } = await client.waitForIdle(threadId, { timeoutMs: TURN_MS });
    slowest = Math.max(slowest, performance.now() - begun);
    turns += 1;
    const { messages } = await client.getMessages(threadId, { limit: 100_000 });
    const said = messages.filter(({ content }) => content === 'Ticked 2 times.').length;
    if (status !== 'idle' || said !== turns) {
      throw new Error(
        `The healthy thread ${threadId} is ${status} with ${said} answers after ${turns} turns.`,
      );
    }
    // Twenty threads without a pause would be a load test.
    await delay(100);
  }
  return { turns, slowest };
}
