/**
 * Workers of earlier test files of this process, for the next ones: to start one takes half a second of computing. They are made,
 * lent and given back by each file (`support/worker-pool.ts`).
 */
import { guardAuthorCode } from '../../src/state/author-guard.ts';
import { emptyStore } from './store-template.ts';
import type { TestWorker } from './test-worker.ts';

export interface KeptWorker {
  /** What it was made from. */
  readonly key: string;
  readonly worker: TestWorker;
  readonly unsetCommonVariables: () => Promise<void>;
}

/** Most files ask for the same one. */
const AT_MOST = 3;
/** The one that was used last comes last. */
const kept: KeptWorker[] = [];

// What a worker sets up for the whole process, it would otherwise set up and take down within whichever test file comes first.
guardAuthorCode({ alone: false, stray: async () => false, unknown() {} });

/** It is the caller's then, and its store is empty. */
export function takeWorker(key: string): KeptWorker | undefined {
  const at = kept.findLastIndex((each) => each.key === key);
  if (at < 0) return undefined;
  const [found] = kept.splice(at, 1) as [KeptWorker];
  emptyStore(found.worker.store);
  return found;
}

/** Keeps it, or ends it and closes its store. */
export async function keepWorker(member: KeptWorker, mayStay: boolean): Promise<void> {
  if (!mayStay || member.worker.over) return end(member);
  member.worker.forgetTests();
  kept.push(member);
  if (kept.length > AT_MOST) await end(kept.shift() as KeptWorker);
}

export async function endKeptWorkers(): Promise<void> {
  await Promise.all(kept.splice(0).map(end));
}

async function end({ worker }: KeptWorker): Promise<void> {
  await worker.stop();
  await worker.store.close();
}
