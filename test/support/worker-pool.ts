/**
 * The workers of a test file. To make one takes longer than most tests do with it, so one serves test after test, and file after file
 * (`once/kept-workers.ts`), where nothing of what it was made from differs. What tests see of it is each one's own:
 * W1. A thread belongs for good to the test in which the worker first saw it: its activities find that test's registry and
 *     probe, also when they end late.
 * W2. At the end of a test no thread of its own runs on: the server ends them, so that nothing begins in their name.
 * W3. What a test sets for users or the instance is unset at its end: nothing else in a store is of no thread.
 * W4. A worker that was stopped, or ended by itself, serves no other test. Its store stays open to the end of the file.
 * W5. One that has started processes serves no other file: what processes there are is a test's own.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { closeConnections } from '../../src/mcp/index.ts';
import { generateKey, parseKeys } from '../../src/store/crypto/encryption.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { SetEnv } from '../../src/store/port/env.ts';
import type { ThreadStore } from '../../src/store/port/thread-store.ts';
import { type KeptWorker, keepWorker, takeWorker } from '../once/kept-workers.ts';
import { ADDRESSES, placeStore } from '../once/store-template.ts';
import { type Duty, type Place, TestWorker, type WorkerTerms } from '../once/test-worker.ts';
import { sandboxProcesses } from './sandbox-children.ts';

export type { Duty, WorkerTerms } from '../once/test-worker.ts';

/** A store of its own, which the caller closes: in a file, or where the test file has its stores (on-postgres.ts). */
export async function openTestStore(): Promise<ThreadStore> {
  const keys = parseKeys(generateKey('test'), 'the test');
  const address = await makeAddress();
  const store = await openStore(address, '', { keys });
  ADDRESSES.set(store, address);
  return store;
}

const inFile = async () => {
  const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'store.db');
  await placeStore(file);
  return `sqlite:${file}?synchronous=normal`;
};
let makeAddress = inFile;

/** Of the stores of this test file from now on. */
export function makeStoresAt(make: () => Promise<string>): void {
  makeAddress = make;
}

/** As in `EVERTHREAD_STORE`. */
export function addressOf(store: ThreadStore): string {
  return ADDRESSES.get(store) ?? '';
}

/** A worker that serves no other test; its store is the caller's. */
export async function startWorker(terms: WorkerTerms, place: Place, duty: Duty): Promise<TestWorker> {
  return TestWorker.start(terms, place, duty);
}

/** All that tests of this file have lent, by what they were made from. */
const pool: Member[] = [];

interface Member extends KeptWorker {
  lent: boolean;
}

afterAll(async () => {
  const members = pool.splice(0);
  if (members.length === 0) return;
  const mayStay = makeAddress === inFile && sandboxProcesses().length === 0;
  await Promise.all(members.map(({ lent, ...worker }) => keepWorker(worker, mayStay && !lent)));
  // As at the end of a worker: servers of this file are gone.
  await closeConnections();
});

export interface LentWorker {
  readonly worker: TestWorker;
  /** `started`: what the test has started itself; not all of it need have reached the store. */
  giveBack(temporal: Client, started: ReadonlySet<string>): Promise<void>;
}

export async function lendWorker(terms: WorkerTerms, duty: Duty): Promise<LentWorker> {
  const key = JSON.stringify([terms, settingsOfEnvironment()]);
  const lent = findMember(key) ?? addMember(await startKept(key, terms, duty));
  lent.lent = true;
  lent.worker.serve(duty);
  return {
    worker: lent.worker,
    async giveBack(temporal, started) {
      await lent.worker.endThreads(temporal, started);
      await lent.unsetCommonVariables();
      lent.lent = false;
    },
  };
}

function findMember(key: string): Member | undefined {
  const own = pool.find((each) => each.key === key && !each.lent && !each.worker.over);
  const earlier = own || makeAddress !== inFile ? undefined : takeWorker(key);
  return earlier ? addMember(earlier) : own;
}

function addMember(worker: KeptWorker): Member {
  const member = { ...worker, lent: false };
  pool.push(member);
  return member;
}

async function startKept(key: string, terms: WorkerTerms, duty: Duty): Promise<KeptWorker> {
  const place: Place = { store: await openTestStore(), taskQueue: `test-${randomUUID()}` };
  const unsetCommonVariables = watchCommonVariables(place.store);
  return { key, worker: await TestWorker.start(terms, place, duty), unsetCommonVariables };
}

/** Answers how to unset, for the next test, the variables of users and of the instance that were set since the last one. */
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

/** A worker reads them when it is made. */
function settingsOfEnvironment(): unknown {
  return Object.entries(process.env).filter(([name]) => /^(EVERTHREAD|TEMPORAL)_/.test(name));
}
