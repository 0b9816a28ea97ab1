/** Checks the state of a thread in the store: whether it accepts commands, is terminated, or does not exist. */
import { RuntimeError } from '../core/value/error.ts';
import type { ExecutionRecord } from '../store/execution/execution-record.ts';
import type { ThreadStore } from '../store/store.ts';
import type { ThreadRecord } from '../store/thread/thread-record.ts';

/** Returns the thread, or null if the store does not have it. Throws `ThreadTerminated`. */
export async function refuseTerminated(store: ThreadStore, threadId: string): Promise<ThreadRecord | null> {
  const record = await store.threads.get(threadId);
  if (record?.terminatedAt == null) return record;
  throw terminatedError(threadId);
}

export function terminatedError(threadId: string, cause?: unknown): RuntimeError {
  const message = `Thread "${threadId}" is terminated; start a new one.`;
  return new RuntimeError('ThreadTerminated', message, cause === undefined ? undefined : { cause });
}

/** Finds a thread that no worker has opened, by other means than the store. */
export type FindThread = (threadId: string) => Promise<ThreadRecord | null>;

/** Throws `ThreadNotFound`. */
export async function requireThread(
  store: ThreadStore,
  threadId: string,
  findAccepted?: FindThread,
): Promise<ThreadRecord> {
  const record = (await store.threads.get(threadId)) ?? (await findAccepted?.(threadId));
  if (record?.deletedAt !== undefined) throw threadNotFound(threadId);
  if (record) return record;
  // A worker may have opened it since the first read.
  const opened = findAccepted && (await store.threads.get(threadId));
  if (opened) return opened;
  throw threadNotFound(threadId);
}

function threadNotFound(threadId: string): RuntimeError {
  return new RuntimeError('ThreadNotFound', `Thread "${threadId}" is not in this store.`);
}

/** Throws `ExecutionNotFound`. */
export async function requireExecution(
  store: ThreadStore,
  threadId: string,
  executionId?: string,
): Promise<ExecutionRecord> {
  const record = await store.executions.get(threadId, executionId);
  if (record) return record;
  const which =
    executionId === undefined ? 'has not run yet' : `has no execution ${JSON.stringify(executionId)}`;
  throw new RuntimeError(
    'ExecutionNotFound',
    `Thread "${threadId}" ${which}; listExecutions lists its executions.`,
  );
}

/** Explains why a thread has no running workflow: returns `ThreadTerminated` or `ThreadNotFound`. */
export async function workflowGoneError(
  store: ThreadStore,
  threadId: string,
  cause: unknown,
): Promise<RuntimeError> {
  const record = await store.threads.get(threadId);
  if (record?.terminatedAt != null) return terminatedError(threadId, cause);
  return new RuntimeError(
    'ThreadNotFound',
    `Thread "${threadId}" is not running, and it is not in this store.`,
    { cause },
  );
}
