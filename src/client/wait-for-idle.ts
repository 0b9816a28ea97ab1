/**
 * Decides when a thread is at rest. The store alone cannot: a signal may have reached the server but not the store. Nor
 * can the workflow: items that others queue in the store are announced to it afterwards. So both must agree, if a
 * worker can respond.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { RuntimeError } from '../core/value/error.ts';
import type { ThreadStore } from '../store/store.ts';
import type { ThreadRecord } from '../store/thread/thread-record.ts';
import { type StatusView, status } from '../workflows/messages.ts';
import type { Sent } from './sent-ledger.ts';

export interface IdleOptions {
  /** Milliseconds; 60,000 unless given. */
  readonly timeoutMs?: number;
  /**
   * What another client has sent, in place of what this one has: the ids of messages and tool calls, those of them that
   * were sent as a user (`words`), and whether it has stopped, continued, cancelled or terminated something.
   */
  readonly sent?: {
    readonly ids: Iterable<string>;
    readonly words?: Iterable<string>;
    readonly signalled?: boolean;
  };
  /** When it aborts, the wait rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

interface IdleWait {
  readonly store: ThreadStore;
  readonly handle: WorkflowHandle;
  readonly threadId: string;
  readonly sent: Omit<Sent, 'ended'>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

const POLL_MS = 25;
const MAX_POLL_MS = 200;
/** Longest pause between two checks, for changes that the log does not show. */
const MAX_CHECK_PAUSE_MS = 1000;
/** Shortest time limit of a query: the server holds one for an absent worker longer than most callers want to wait. */
const MIN_QUERY_TIMEOUT_MS = 1000;

export async function waitForIdle(wait: IdleWait): Promise<ThreadRecord> {
  // Measured with a monotonic clock.
  const deadline = performance.now() + wait.timeoutMs;
  const ask = createStatusQuery(wait.handle, deadline);
  for (let pause = POLL_MS; ; pause = Math.min(pause * 1.3, MAX_POLL_MS)) {
    wait.signal?.throwIfAborted();
    const ids = [...wait.sent.ids];
    // Queried before the thread is read: the transaction that takes an item also stores that the thread runs.
    const arrived = (await wait.store.queue.countTaken(wait.threadId, ids)) === ids.length;
    const taken = arrived || (await areMessagesTaken(wait));
    const record = await wait.store.threads.get(wait.threadId);
    if (record && (await isAtRest({ ...wait, ask, arrived, taken }, record))) {
      for (const id of ids) {
        wait.sent.ids.delete(id);
        wait.sent.words.delete(id);
      }
      return record;
    }
    if (performance.now() > deadline) throw timeoutError(wait, record);
    if (record?.status === 'running') await untilNotRunning(wait, record, deadline);
    else await delay(pause, undefined, { signal: wait.signal }).catch(() => undefined);
  }
}

/** Waits while the thread runs. Its rest is logged, so its record is read again only after the log has grown. */
async function untilNotRunning(
  { store, threadId, signal }: IdleWait,
  { lastSeq }: ThreadRecord,
  deadline: number,
): Promise<void> {
  let seen = lastSeq;
  for (;;) {
    const withinMs = Math.min(Math.max(deadline - performance.now(), 0), MAX_CHECK_PAUSE_MS);
    await store.events.awaitGrowth(threadId, seen, { signal, withinMs });
    if (signal?.aborted || performance.now() > deadline) return;
    const record = await store.threads.get(threadId);
    if (record?.status !== 'running' || record.lastSeq === seen) return;
    seen = record.lastSeq;
  }
}

async function areMessagesTaken({ store, threadId, sent }: IdleWait): Promise<boolean> {
  const words = [...sent.words];
  return (await store.queue.countTaken(threadId, words)) === words.length;
}

interface RestCheck extends Pick<IdleWait, 'store' | 'sent'> {
  readonly ask: QueryStatus;
  /** True if every sent item has arrived. */
  readonly arrived: boolean;
  /** True if every user message (`words`) has arrived. */
  readonly taken: boolean;
}

async function isAtRest(
  { store, sent, ask, arrived, taken }: RestCheck,
  record: ThreadRecord,
): Promise<boolean> {
  if (record.terminatedAt !== null) return true;
  // A stop that is in transit will end the open waits.
  if (record.status === 'waiting') {
    if (sent.signalled) return false;
    const open = await store.waits.list({ threadId: record.id });
    // A pause ends as soon as the thread takes a user message; any other wait stays open.
    const isPaused = open.some(({ kind, threadId }) => kind === 'paused' && threadId === record.id);
    return open.length > 0 && (taken || !isPaused);
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
  // A report, a relative's message or an effect's tool call is queued before the workflow is notified. Items that the
  // workflow knows of and leaves queued wait for a person, and so do all items of a stopped thread.
  const holdsWork = view === undefined ? mayHoldWork : record.status === 'stopped' || view.queued > 0;
  return holdsWork || (await store.queue.count(record.id)) === 0;
}

/** Undefined if neither a worker nor a running workflow responds; the store decides then. */
type QueryStatus = () => Promise<StatusView | 'busy' | undefined>;

/** Returns `busy` if a worker has answered before and does not now. */
function createStatusQuery(handle: WorkflowHandle, deadline: number): QueryStatus {
  let lives = false;
  return async () => {
    try {
      const until = Date.now() + Math.max(deadline - performance.now(), MIN_QUERY_TIMEOUT_MS);
      const view = await handle.client.withDeadline(until, () => handle.query(status));
      lives = true;
      return view;
    } catch {
      return lives ? 'busy' : undefined;
    }
  };
}

function timeoutError({ threadId, timeoutMs }: IdleWait, record: ThreadRecord | null): RuntimeError {
  const where = record
    ? `its status is "${record.status}" after step ${record.lastStep}`
    : 'no worker has opened it';
  return new RuntimeError(
    'Timeout',
    `Thread "${threadId}" was not at rest within ${timeoutMs} ms: ${where}. Is a worker running on its task queue?`,
  );
}
