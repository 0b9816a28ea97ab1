/** Worker processes on one store, one task queue and one scripted model, which the fault tests kill and restart. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { Configuration } from '../../src/configuration.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { type ScriptedModel, type ScriptFunction, scriptedModel } from '../../src/testing/index.ts';
import { placeStore } from '../once/store-template.ts';
import { type Conversation, conversation } from './conversation.ts';
import { eventually } from './eventually.ts';
import { type DeathPoint, faultScript, orderDeath } from './fault-project.ts';
import { loseActivities } from './lost-activities.ts';
import { connectPatiently } from './patient-client.ts';
import { PROGRAM_OPTIONS } from './program-options.ts';
import type { WorkerOrder } from './run-worker-process.ts';

export interface WorkerProcess {
  readonly pid: number;
  readonly alive: boolean;
  /** Resolves with the exit code of the process; null if a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Sends a signal and waits for the process to end. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
}

/** A process that has loaded its program and becomes a worker on request. */
export interface StandbyWorker extends WorkerProcess {
  /** Resolves once the program is loaded; false if the process has died. */
  loaded(): Promise<boolean>;
  /** Makes it a worker; resolves once it works, with false if it has died. */
  begin(): Promise<boolean>;
}

export interface Cluster extends Conversation {
  readonly client: RuntimeClient;
  readonly store: ThreadStore;
  readonly folder: string;
  readonly model: ScriptedModel;
  readonly taskQueue: string;
  /** Address of the Temporal server. */
  readonly address: string;
  /** Live workers, oldest first. */
  readonly workers: readonly WorkerProcess[];
  /** Starts workers until `count` are alive. */
  keep(count: number): Promise<void>;
  /** Starts a process that becomes a worker on request: most of a start is loading the program. */
  standBy(): StandbyWorker;
  /** Tries to start a worker with another store; rejects with the worker's output if it does not start. */
  startWith(store: string): Promise<void>;
  orderDeath(point: DeathPoint): void;
  /** Resolves once a worker has died by the order. */
  died(point: DeathPoint): Promise<void>;
  /** Starts a thread with a message and does not wait for its rest; the default agent is `helper`. */
  begin(content: string, agent?: string): Promise<string>;
  /** What the tools of a thread wrote, in order. */
  ledger(threadId: string): string[];
  close(): Promise<void>;
}

export interface ClusterOptions {
  readonly script?: ScriptFunction;
  readonly configuration?: Partial<Configuration>;
  /** Address of the Temporal server; by default the one that the tests share. */
  readonly address?: string;
  /** Store address, as in `EVERTHREAD_STORE`; by default a file in the cluster's folder. */
  readonly store?: string;
  /**
   * Path of a program other than the fault tests' worker, and its extra environment. Both are read each time a worker
   * starts.
   */
  readonly program?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The heartbeat timeouts of a killed worker's activities pass in their own time, as in production. */
  readonly waitsForTimeouts?: true;
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { address = process.env.TEMPORAL_ADDRESS as string, store = 'sqlite:store.db?synchronous=normal' } =
    options;
  const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
  mkdirSync(folder, { recursive: true });
  if (options.store === undefined) await placeStore(join(folder, 'store.db'));
  const taskQueue = `faults-${randomUUID()}`;
  const model = scriptedModel(options.script ?? faultScript());
  const server = await model.serve();
  const client = await connectPatiently({
    address,
    taskQueue,
    store,
    projectDir: folder,
  });
  // Longer than any pause of a living worker: only a killed one counts as lost, and that at once (lost-activities.ts).
  const configuration = { modelHeartbeatMs: 30_000, toolHeartbeatMs: 30_000, ...options.configuration };
  const order: WorkerOrder = { modelUrl: server.url, folder, taskQueue, store, configuration };
  const started: WorkerProcess[] = [];
  const closing = new AbortController();
  const lost: Promise<void>[] = [];
  const note = (worker: WorkerProcess) => {
    started.push(worker);
    void worker.ended.then((code) => {
      if (code === 0 || options.waitsForTimeouts) return;
      lost.push(loseActivities({ client: client.temporal, taskQueue, pid: worker.pid }, closing.signal));
    });
  };
  const alive = () => started.filter((worker) => worker.alive);
  const deaths = () => started.length - alive().length;
  let deathsBefore = 0;
  return {
    folder,
    model,
    taskQueue,
    address,
    client,
    store: client.store,
    ...conversation(client),
    get workers() {
      return alive();
    },
    async keep(count) {
      const missing = Array.from({ length: Math.max(0, count - alive().length) });
      for (const worker of await Promise.all(missing.map(() => startWorker(order, options, address))))
        note(worker);
    },
    standBy() {
      const { process: standby, said } = spawnWorker({ ...order, standsBy: true }, options, address);
      note(standby);
      return Object.assign(standby, {
        loaded: () => said('loaded'),
        begin: () => {
          standby.tell('begin');
          return said('ready');
        },
      });
    },
    async startWith(other) {
      note(await startWorker({ ...order, store: other }, options, address));
    },
    orderDeath(point) {
      deathsBefore = deaths();
      orderDeath(folder, point);
    },
    async died(point) {
      await eventually(`a worker's death at ${point}`, () => deaths() > deathsBefore);
    },
    async begin(content, agent = 'helper') {
      const { threadId } = await client.startThread({ agent, messages: [{ content }] });
      return threadId;
    },
    ledger: (threadId) => readLedger(folder, threadId),
    async close() {
      closing.abort();
      await Promise.all(alive().map((worker) => worker.end('SIGKILL')));
      await Promise.all(lost);
      await client.close();
      await server.close();
    },
  };
}

function readLedger(folder: string, threadId: string): string[] {
  try {
    const lines = readFileSync(join(folder, 'ledger'), 'utf8').split('\n');
    return lines
      .filter((line) => line.startsWith(`${threadId} `))
      .map((line) => line.slice(threadId.length + 1));
  } catch {
    return [];
  }
}

const SCRIPT = fileURLToPath(new URL('./worker-process.ts', import.meta.url));

async function startWorker(
  order: WorkerOrder,
  options: ClusterOptions,
  address: string,
): Promise<WorkerProcess> {
  const { process: worker, said } = spawnWorker(order, options, address);
  if (await said('ready')) return worker;
  throw new Error(
    `A worker did not start:\n${readFileSync(join(order.folder, 'worker.log'), 'utf8').slice(-2000)}`,
  );
}

interface Spawned {
  readonly process: WorkerProcess & { tell(word: string): void };
  /** Resolves once the process has sent this word; false if it ended before. */
  said(word: string): Promise<boolean>;
}

function spawnWorker(
  order: WorkerOrder,
  { program = SCRIPT, environment }: ClusterOptions,
  address: string,
): Spawned {
  const log = openSync(join(order.folder, 'worker.log'), 'a');
  const child: ChildProcess = spawn(process.execPath, [...PROGRAM_OPTIONS, program], {
    stdio: ['ignore', log, log, 'ipc'],
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      TEMPORAL_ADDRESS: address,
      EVERTHREAD_FAULT_WORKER: JSON.stringify(order),
      ...environment,
    },
  });
  closeSync(log);
  const words = new Set<unknown>();
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  child.on('message', (word) => words.add(word));
  // A message to a process that has just died is lost.
  child.on('error', () => undefined);
  return {
    process: {
      pid: child.pid as number,
      ended: exit,
      get alive() {
        return isAlive();
      },
      tell(word) {
        if (isAlive()) child.send(word, () => undefined);
      },
      async end(signal) {
        if (!isAlive()) return;
        child.kill(signal);
        await exit;
      },
    },
    async said(word) {
      while (isAlive() && !words.has(word)) await Promise.race([once(child, 'message'), exit]);
      return words.has(word);
    },
  };
}
