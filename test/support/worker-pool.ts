/**
 * Workers that the tests of a file share. Creating one takes longer than most tests use it, so a worker serves test
 * after test, as long as it would be created with the same settings. What tests see of it is separate for each:
 * W1. A thread belongs permanently to the test in which the worker first saw it: its activities use that test's
 *     registry and probe, even if they end late.
 * W2. At the end of a test the server terminates all its threads, so that none of them runs on or starts more work.
 * W3. Variables that a test sets for users or the instance are unset at its end: all other data of a store belongs to a
 *     thread.
 * W4. A worker that was stopped, or that has ended by itself, serves no other test. Its store stays open until the file
 *     ends.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';
import { Context } from '@temporalio/activity';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { FaultPoint } from '../../src/activities/base/dependencies.ts';
import type { Configuration } from '../../src/configuration.ts';
import type { Registry } from '../../src/core/author/registry.ts';
import { WORKFLOW_ID_PREFIX } from '../../src/core/thread/start-input.ts';
import { generateKey, parseKeys } from '../../src/store/crypto/encryption.ts';
import type { SetEnv } from '../../src/store/env/env-record.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import type { EventListener } from '../../src/store/transaction/event-record.ts';
import { createWorker, type ThreadWorker } from '../../src/worker/index.ts';
import { placeStore } from '../once/store-template.ts';

/** What a test supplies to a worker for its threads. */
export interface Duty {
  readonly registry: () => Registry;
  readonly probe?: (point: FaultPoint) => void | Promise<void>;
}

export interface WorkerTerms {
  readonly configuration: Partial<Configuration>;
  readonly workflowBundle?: string;
  /** For a worker that serves one test alone. */
  readonly listener?: EventListener | undefined;
}

export interface Place {
  readonly store: ThreadStore;
  readonly taskQueue: string;
}

/** Opens a new store, which the caller closes: in a file, or where the test file puts its stores (on-postgres.ts). */
export async function openTestStore(): Promise<ThreadStore> {
  const keys = parseKeys(generateKey('test'), 'the test');
  const address = await makeAddress();
  const store = await openStore(address, '', { keys });
  ADDRESSES.set(store, address);
  return store;
}

let makeAddress = async () => {
  const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'store.db');
  await placeStore(file);
  return `sqlite:${file}?synchronous=normal`;
};

/** Sets how addresses of new stores of this test file are made from now on. */
export function makeStoresAt(make: () => Promise<string>): void {
  makeAddress = make;
}

const ADDRESSES = new WeakMap<ThreadStore, string>();

/** Returns the address of a store, as in `EVERTHREAD_STORE`. */
export function addressOf(store: ThreadStore): string {
  return ADDRESSES.get(store) ?? '';
}

/** Starts a worker that serves no other test; its store belongs to the caller. */
export async function startWorker(terms: WorkerTerms, place: Place, duty: Duty): Promise<TestWorker> {
  return TestWorker.start(terms, place, duty);
}

/** Workers created for this file, with the key of their settings. */
const pool: Member[] = [];

interface Member {
  readonly key: string;
  readonly worker: TestWorker;
  readonly unsetCommonVariables: () => Promise<void>;
  lent: boolean;
}

afterAll(async () => {
  const members = pool.splice(0);
  await Promise.all(members.map(({ worker }) => worker.stop()));
  await Promise.all(members.map(({ worker }) => worker.store.close()));
});

export interface LentWorker {
  readonly worker: TestWorker;
  /** `started`: ids of threads that the test has started itself; some may not have reached the store. */
  giveBack(temporal: Client, started: ReadonlySet<string>): Promise<void>;
}

export async function lendWorker(terms: WorkerTerms, duty: Duty): Promise<LentWorker> {
  const key = JSON.stringify([terms, settingsOfEnvironment()]);
  let member = pool.find((each) => each.key === key && !each.lent && !each.worker.over);
  if (member) member.worker.serve(duty);
  else {
    const place = { store: await openTestStore(), taskQueue: `test-${randomUUID()}` };
    const unsetCommonVariables = watchCommonVariables(place.store);
    const worker = await TestWorker.start(terms, place, duty);
    member = { key, worker, unsetCommonVariables, lent: false };
    pool.push(member);
  }
  const lent = member;
  lent.lent = true;
  return {
    worker: lent.worker,
    async giveBack(temporal, started) {
      await lent.worker.endThreads(temporal, started);
      await lent.unsetCommonVariables();
      lent.lent = false;
    },
  };
}

/** Returns a function that unsets the variables of users and of the instance that were set since its last call. */
function watchCommonVariables(store: ThreadStore): () => Promise<void> {
  const set: SetEnv[] = [];
  const setEnv = store.env.set.bind(store);
  Object.assign(store, {
    env: {
      ...store.env,
      set(command: SetEnv) {
        if (!('thread' in command.owner)) set.push(command);
        return setEnv(command);
      },
    },
  });
  return async () => {
    for (const { owner, name } of set.splice(0)) await store.env.unset(owner, name);
  };
}

/** Environment variables that a worker reads when it is created. */
function settingsOfEnvironment(): unknown {
  return Object.entries(process.env).filter(([name]) => /^(EVERTHREAD|TEMPORAL)_/.test(name));
}

export class TestWorker {
  readonly store: ThreadStore;
  readonly taskQueue: string;
  worker!: ThreadWorker;
  over = false;
  #duty: Duty;
  /** The test that each thread belongs to, by workflow id (W1). */
  readonly #duties = new Map<string, Duty>();
  readonly #ended = new Set<string>();
  #stop!: () => Promise<void>;
  #stopped: Promise<void> | undefined;

  private constructor({ store, taskQueue }: Place, duty: Duty) {
    this.store = store;
    this.taskQueue = taskQueue;
    this.#duty = duty;
  }

  static async start(terms: WorkerTerms, place: Place, duty: Duty): Promise<TestWorker> {
    const own = new TestWorker(place, duty);
    const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS });
    own.worker = await createWorker({
      ...terms,
      ...place,
      projectDir: process.cwd(),
      connection,
      registry: () => own.#dutyHere().registry(),
      probe: (point) => own.#dutyHere().probe?.(point),
    });
    const running = own.worker.run().finally(() => {
      own.over = true;
    });
    own.#stop = async () => {
      own.worker.shutdown();
      await running;
      await connection.close();
    };
    return own;
  }

  serve(duty: Duty): void {
    this.#duty = duty;
  }

  /** Stops the worker; resolves when it is gone. Safe to call twice. */
  stop(): Promise<void> {
    this.over = true;
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async endThreads(temporal: Client, started: ReadonlySet<string>): Promise<void> {
    if (this.over) return;
    const stored = await this.store.threads.list({ limit: 1_000_000 });
    const known = new Set([...started, ...stored.map(({ id }) => id)]);
    const open = [...known].filter((id) => !this.#ended.has(id));
    await Promise.all(open.map((id) => this.#endThread(temporal, id)));
  }

  async #endThread(temporal: Client, id: string): Promise<void> {
    const workflowId = `${WORKFLOW_ID_PREFIX}${id}`;
    this.#dutyOf(workflowId);
    this.#ended.add(id);
    await temporal.workflow
      .getHandle(workflowId)
      .terminate('the test is over')
      .catch((error) => {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      });
  }

  #dutyOf(workflowId: string): Duty {
    const known = this.#duties.get(workflowId);
    if (known) return known;
    this.#duties.set(workflowId, this.#duty);
    return this.#duty;
  }

  /** Duty of the thread whose activity calls; outside of activities, that of the current test. */
  #dutyHere(): Duty {
    const workflowId = currentWorkflowId();
    return workflowId === undefined ? this.#duty : this.#dutyOf(workflowId);
  }
}

function currentWorkflowId(): string | undefined {
  try {
    return Context.current().info.workflowExecution?.workflowId;
  } catch {
    return undefined;
  }
}
