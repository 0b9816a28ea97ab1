/**
 * When is a thread at rest? The store alone cannot tell: a signal that the server has may not have reached it. Nor can the
 * workflow: what others put into the queue in the store is announced to it afterwards. So both must say so, where a worker can.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { RuntimeError } from '../core/error.ts';
import type { ThreadRecord, ThreadStore } from '../store/port/thread-store.ts';
import { type StatusView, status } from '../workflows/messages.ts';

/** What a client has sent to a thread, and does not know to have been heard. */
export interface Sent {
  /** Of items; emptied of those that have arrived. */
  readonly ids: Set<string>;
  /** A stop or an end was asked for: of these the store knows nothing until they are over. */
  signalled: boolean;
}

interface Wait {
  readonly store: ThreadStore;
  readonly handle: WorkflowHandle;
  readonly threadId: string;
  readonly sent: Sent;
  readonly timeoutMs: number;
}

const POLL_MS = 25;
const POLL_AT_MOST_MS = 200;
/** The server holds a question for a worker that is not there for longer than most callers want to wait. */
const ASK_AT_LEAST_MS = 1000;

export async function waitForIdle(wait: Wait): Promise<ThreadRecord> {
  // Not by the clock, which may be set in between.
  const deadline = performance.now() + wait.timeoutMs;
  const ask = askUntil(wait.handle, deadline);
  for (let pause = POLL_MS; ; pause = Math.min(pause * 1.3, POLL_AT_MOST_MS)) {
    const ids = [...wait.sent.ids];
    // Asked before the thread is read: whoever takes an item says in the same transaction that the thread runs.
    const arrived = (await wait.store.countTaken(wait.threadId, ids)) === ids.length;
    const record = await wait.store.getThread(wait.threadId);
    if (record && (await isAtRest({ ...wait, ask, arrived }, record))) {
      for (const id of ids) wait.sent.ids.delete(id);
      return record;
    }
    if (performance.now() > deadline) throw timeout(wait, record);
    await delay(pause);
  }
}

interface Look extends Pick<Wait, 'store' | 'sent'> {
  readonly ask: Ask;
  /** Every item that was sent. */
  readonly arrived: boolean;
}

async function isAtRest({ store, sent, ask, arrived }: Look, record: ThreadRecord): Promise<boolean> {
  if (record.terminatedAt !== null) return true;
  if (record.status === 'running' || record.status === 'waiting') return false;
  // A stopped thread keeps what is queued, and so does one whose step could not even be tried.
  const mayHoldWork = record.status === 'stopped' || record.status === 'failed';
  if (!arrived && !mayHoldWork) return false;
  const view = await ask();
  if (view === 'busy') return false;
  // The status alone would not do: what was sent to a stopped thread may be on its way into the store.
  if (view ? view.status !== record.status || !view.atRest : !arrived || sent.signalled) return false;
  if (view) sent.signalled = false;
  // A report, a relative's word, an effect's tool lie in line before the workflow is told of them. What it knows of and leaves
  // there waits for a person, and so does everything of a thread that was stopped.
  const holdsWork = view === undefined ? mayHoldWork : record.status === 'stopped' || view.queued > 0;
  return holdsWork || (await store.countQueued(record.id)) === 0;
}

/** Undefined when nobody can say: no worker, or no running workflow. The store's word stands then. */
type Ask = () => Promise<StatusView | 'busy' | undefined>;

/** Who has answered once and does not now is busy. */
function askUntil(handle: WorkflowHandle, deadline: number): Ask {
  let lives = false;
  return async () => {
    try {
      const until = Date.now() + Math.max(deadline - performance.now(), ASK_AT_LEAST_MS);
      const view = await handle.client.withDeadline(until, () => handle.query(status));
      lives = true;
      return view;
    } catch {
      return lives ? 'busy' : undefined;
    }
  };
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
