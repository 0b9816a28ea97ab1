/**
 * Decides when a thread is at rest. The store alone cannot tell: a signal may have reached the server and not yet the store. Nor can
 * the workflow: items queued in the store by others are announced to it afterwards. So both must agree, where a worker can respond.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { RuntimeError } from '../core/value/error.ts';
import type { ThreadRecord, ThreadStore } from '../store/port/thread-store.ts';
import { type StatusView, status } from '../workflows/messages.ts';
import type { Sent } from './sent-ledger.ts';

export interface IdleOptions {
  /** 60,000 unless given. */
  readonly timeoutMs?: number;
  /**
   * What another client has sent, in place of what this one has: the ids of messages and tools, which of these it has said as a user, and whether
   * it has stopped, cancelled or ended something.
   */
  readonly sent?: {
    readonly ids: Iterable<string>;
    readonly words?: Iterable<string>;
    readonly signalled?: boolean;
  };
  /** The wait rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

interface Wait {
  readonly store: ThreadStore;
  readonly handle: WorkflowHandle;
  readonly threadId: string;
  readonly sent: Omit<Sent, 'ended'>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

const POLL_MS = 25;
const POLL_AT_MOST_MS = 200;
/** For what the log does not tell. */
const LOOK_AT_LEAST_MS = 1000;
/** The server holds a query for an absent worker longer than most callers want to wait. */
const ASK_AT_LEAST_MS = 1000;

export async function waitForIdle(wait: Wait): Promise<ThreadRecord> {
  // Measured with a monotonic clock.
  const deadline = performance.now() + wait.timeoutMs;
  const ask = askUntil(wait.handle, deadline);
  for (let pause = POLL_MS; ; pause = Math.min(pause * 1.3, POLL_AT_MOST_MS)) {
    wait.signal?.throwIfAborted();
    const ids = [...wait.sent.ids];
    // Queried before the thread is read: the transaction that takes an item also stores that the thread runs.
    const arrived = (await wait.store.queue.countTaken(wait.threadId, ids)) === ids.length;
    const heard = arrived || (await isHeard(wait));
    const record = await wait.store.threads.get(wait.threadId);
    if (record && (await isAtRest({ ...wait, ask, arrived, heard }, record))) {
      for (const id of ids) {
        wait.sent.ids.delete(id);
        wait.sent.words.delete(id);
      }
      return record;
    }
    if (performance.now() > deadline) throw timeout(wait, record);
    if (record?.status === 'running') await untilNotRunning(wait, record, deadline);
    else await delay(pause, undefined, { signal: wait.signal }).catch(() => undefined);
  }
}

/** Its rest is told in its log, so nothing else is asked until that has grown. */
async function untilNotRunning(
  { store, threadId, signal }: Wait,
  { lastSeq }: ThreadRecord,
  deadline: number,
): Promise<void> {
  let seen = lastSeq;
  for (;;) {
    const withinMs = Math.min(Math.max(deadline - performance.now(), 0), LOOK_AT_LEAST_MS);
    await store.events.awaitGrowth(threadId, seen, { signal, withinMs });
    if (signal?.aborted || performance.now() > deadline) return;
    const record = await store.threads.get(threadId);
    if (record?.status !== 'running' || record.lastSeq === seen) return;
    seen = record.lastSeq;
  }
}

async function isHeard({ store, threadId, sent }: Wait): Promise<boolean> {
  const words = [...sent.words];
  return (await store.queue.countTaken(threadId, words)) === words.length;
}

interface Look extends Pick<Wait, 'store' | 'sent'> {
  readonly ask: Ask;
  /** Whether every sent item has arrived. */
  readonly arrived: boolean;
  /** Whether every word has. */
  readonly heard: boolean;
}

async function isAtRest({ store, sent, ask, arrived, heard }: Look, record: ThreadRecord): Promise<boolean> {
  if (record.terminatedAt !== null) return true;
  // A stop that is on its way ends the wait.
  if (record.status === 'waiting') {
    if (sent.signalled) return false;
    const open = await store.waits.list({ threadId: record.id });
    // A pause is over as soon as the thread hears what was said; any other wait stays.
    const isPaused = open.some(({ kind, threadId }) => kind === 'paused' && threadId === record.id);
    return open.length > 0 && (heard || !isPaused);
  }
  if (record.status === 'running') return false;
  // A stopped thread keeps its queue, and so does one whose step could not begin.
  const mayHoldWork = record.status === 'stopped' || record.status === 'failed';
  if (!arrived && !mayHoldWork) return false;
  const view = await ask();
  if (view === 'busy') return false;
  // The status is not enough: an item sent to a stopped thread may be on its way into the store.
  if (view ? view.status !== record.status || !view.atRest : !arrived || sent.signalled) return false;
  if (view) sent.signalled = false;
  // A report, a relative's message or an effect's tool is queued before the workflow is told. What the workflow knows of and leaves
  // queued waits for a person, and so does everything of a stopped thread.
  const holdsWork = view === undefined ? mayHoldWork : record.status === 'stopped' || view.queued > 0;
  return holdsWork || (await store.queue.count(record.id)) === 0;
}

/** Undefined when neither a worker nor a running workflow can tell; the store decides then. */
type Ask = () => Promise<StatusView | 'busy' | undefined>;

/** A worker that answered before and does not now is busy. */
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
