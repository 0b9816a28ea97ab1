/**
 * When is a thread at rest? The store alone cannot tell: a signal that the server has may not have reached it. Nor can the
 * workflow: what others put into the queue in the store is announced to it afterwards. So both must say so, where a worker can.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { RuntimeError } from '../core/error.ts';
import type { ThreadRecord, ThreadStore } from '../store/port.ts';
import { type StatusView, status } from '../workflows/messages.ts';

interface Wait {
  readonly store: ThreadStore;
  readonly handle: WorkflowHandle;
  readonly threadId: string;
  /** Emptied of the ids that have arrived. */
  readonly sent: Set<string>;
  readonly timeoutMs: number;
}

const POLL_MS = 25;
const POLL_AT_MOST_MS = 200;

export async function waitForIdle(wait: Wait): Promise<ThreadRecord> {
  const deadline = performance.now() + wait.timeoutMs;
  for (let pause = POLL_MS; ; pause = Math.min(pause * 1.3, POLL_AT_MOST_MS)) {
    const ids = [...wait.sent];
    // Asked before the thread is read: whoever takes an item says in the same transaction that the thread runs.
    const arrived = (await wait.store.countTaken(wait.threadId, ids)) === ids.length;
    const record = await wait.store.getThread(wait.threadId);
    if (record && (await isAtRest(wait, record, arrived))) {
      for (const id of ids) wait.sent.delete(id);
      return record;
    }
    if (performance.now() > deadline) throw timeout(wait, record);
    await delay(pause);
  }
}

async function isAtRest({ store, handle }: Wait, record: ThreadRecord, arrived: boolean): Promise<boolean> {
  if (record.terminatedAt !== null) return true;
  if (record.status === 'running' || record.status === 'waiting') return false;
  // A stopped thread keeps what is queued, and so does one whose step could not even be tried.
  const mayHoldWork = record.status === 'stopped' || record.status === 'failed';
  if (!arrived && !mayHoldWork) return false;
  const view = await askStatus(handle);
  // The status alone would not do: what was sent to a stopped thread may be on its way into the store.
  if (view === undefined ? !arrived : view.status !== record.status || !view.atRest) return false;
  // A report, a relative's word, an effect's tool lie in line before the workflow is told of them. What it knows of and leaves
  // there waits for a person, and so does everything of a thread that was stopped.
  const holdsWork = view === undefined ? mayHoldWork : record.status === 'stopped' || view.queued > 0;
  return holdsWork || (await store.countQueued(record.id)) === 0;
}

/** Undefined when nobody can say: no worker, one that is too busy, or no running workflow. The store's word stands then. */
async function askStatus(handle: WorkflowHandle): Promise<StatusView | undefined> {
  try {
    return await handle.query(status);
  } catch {
    return undefined;
  }
}

function timeout({ threadId, timeoutMs }: Wait, record: ThreadRecord | null): RuntimeError {
  const where = record
    ? `its status is "${record.status}" after step ${record.lastStep}`
    : 'no worker has opened it';
  return new RuntimeError(
    'Timeout',
    `Thread "${threadId}" was not at rest within ${timeoutMs} ms: ${where}. Is a worker running on its task queue?`,
  );
}
