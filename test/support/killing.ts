/**
 * Runs work while worker processes are killed at random moments, both at work and while starting. Loading the program
 * is most of the cost of a replacement, so spares load it ahead of time. A worker is killed only while work is making
 * progress: however slow the machine is, threads progress between two kills.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from './eventually.ts';
import type { Cluster, StandbyWorker } from './fault-cluster.ts';
import { type Random, seededRandom } from './seeded-random.ts';

/** How much a test with kills does. */
export interface KillOrdeal {
  /** Threads at work at once. */
  readonly threads: number;
  readonly kills: number;
  /** Seconds after which no worker is killed any more, even if `kills` is not reached. */
  readonly seconds?: number;
}

export interface Killing extends Omit<KillOrdeal, 'threads'> {
  readonly cluster: Cluster;
  readonly seed: number;
  /** A counter that grows as work progresses. */
  readonly signs: () => number;
  /** Work that runs concurrently; each lane is repeated until the last kill. `turn` counts from 0. */
  readonly lanes: readonly ((turn: number) => Promise<void>)[];
}

/** Number of killed workers: those that had become ready, and those that were still starting. */
export interface Deaths {
  readonly working: number;
  readonly starting: number;
}

/** Up to this many kills, fewer processes suffice; each costs a start. */
const FEW_KILLS = 3;
const MANY = { workers: 3, spares: 2 } as const;
const FEW = { workers: 2, spares: 1 } as const;
/** Upper bounds between two kills: `signs` of progress awaited, and milliseconds of pause after that. */
const SIGNS = 3;
const LONGEST_PAUSE_MS = 400;
const TELL_EVERY = 50;
/** Arguments of `eventually`: a timeout far longer than any machine needs, and the poll interval, in milliseconds. */
export const PATIENCE = [1_200_000, 200] as const;

/** Rejects with the first error of a lane, once no worker is killed any more. */
export async function workUnderKills(killing: Killing): Promise<Deaths> {
  const { cluster, kills, seed, signs, lanes, seconds = Number.POSITIVE_INFINITY } = killing;
  const workers = new Mortals(cluster, kills);
  const random = seededRandom(seed);
  let over = false;
  const finish = () => {
    over = true;
  };
  const work = Promise.all(
    lanes.map(async (lane) => {
      for (let turn = 0; !over; turn++) await lane(turn);
    }),
  ).finally(finish);
  const dying = (async () => {
    const end = performance.now() + seconds * 1000;
    for (let death = 0; death < kills && performance.now() < end; death++) {
      if (death > 0 && death % TELL_EVERY === 0) process.stdout.write(`${death} workers have died\n`);
      const before = signs() + random.below(SIGNS);
      await eventually('work under way', () => over || signs() > before, PATIENCE[0]);
      await delay(random.below(LONGEST_PAUSE_MS));
      if (over) return;
      await workers.kill(random);
    }
  })().finally(finish);
  await Promise.all([work, dying]);
  return workers.deaths;
}

class Mortals {
  readonly #cluster: Cluster;
  /** Number of processes still to be started; it runs out, so that no spare is left over after the last kill. */
  #toStart: number;
  readonly #working: { readonly worker: StandbyWorker; isReady: boolean }[] = [];
  readonly #spares: StandbyWorker[] = [];
  #worked = 0;
  #starting = 0;

  constructor(cluster: Cluster, kills: number) {
    this.#cluster = cluster;
    const { workers, spares } = kills > FEW_KILLS ? MANY : FEW;
    this.#toStart = workers + kills;
    for (let spare = 0; spare < workers + spares; spare++) this.#standBy();
    for (let worker = 0; worker < workers; worker++) this.#begin();
  }

  #standBy(): void {
    if (this.#toStart === 0) return;
    this.#toStart -= 1;
    this.#spares.push(this.#cluster.standBy());
  }

  get deaths(): Deaths {
    return { working: this.#worked, starting: this.#starting };
  }

  /** Kills a random worker, ready or starting, and replaces it by a spare. */
  async kill(random: Random): Promise<void> {
    await this.#spares[0]?.loaded();
    const place = random.below(this.#working.length);
    const [mortal] = this.#working.splice(place, 1);
    await mortal?.worker.end('SIGKILL');
    if (mortal?.isReady) this.#worked += 1;
    else this.#starting += 1;
    this.#standBy();
    this.#begin();
  }

  #begin(): void {
    const worker = this.#spares.shift() as StandbyWorker;
    const mortal = { worker, isReady: false };
    this.#working.push(mortal);
    void (async () => {
      await worker.loaded();
      mortal.isReady = await worker.begin();
    })();
  }
}

/** Dumps all data about a faulty thread to a file and to standard output, before its cluster is closed. */
export async function tellThread({ client, store, folder }: Cluster, threadId: string, what: string) {
  const record = await client.getThread(threadId).catch(String);
  const waits = await client.listWaits({ threadId }).catch(String);
  const events = await store.events.read(threadId, 0, 1_000_000).catch(String);
  const handle = client.temporal.workflow.getHandle(`thread/${threadId}`);
  const { raw } = await handle.describe().catch((error) => ({ raw: String(error) }));
  const path = join(folder, `${threadId}.json`);
  const history = await handle.fetchHistory().catch(String);
  const told = { what, record, waits, events, raw, history };
  const text = JSON.stringify(told, (_, value) => (typeof value === 'bigint' ? String(value) : value), 1);
  writeFileSync(path, text);
  process.stdout.write(`${path}\n${text.slice(0, 200_000)}\n`);
}
