/** Begins and stops turns: a turn is an execution of a thread, under its own id. */
import { makeThread } from '../../client/make-thread.ts';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import type { GivenContext } from '../../core/governance/run-context.ts';
import { isRuntimeError, RuntimeError } from '../../core/value/error.ts';

export interface Turn {
  readonly agent: string;
  /** Id of the thread. */
  readonly session: string;
  readonly input: string;
  /** Id of the execution. */
  readonly id: string;
  /** Context of the execution. */
  readonly context?: GivenContext;
  /** Tag of the thread, if the turn creates it. */
  readonly tag?: string | undefined;
}

/**
 * Sends the message to the thread, which is created if it does not exist, and resolves once the turn has begun. Throws
 * the code with which it was refused.
 */
export async function beginTurn(client: RuntimeClient, turn: Turn): Promise<void> {
  const { agent, session, input: content, id: executionId } = turn;
  const organizationId = turn.context?.organizationId;
  const standing = {
    ...(organizationId !== undefined && { context: { organizationId } }),
    ...(turn.tag !== undefined && { tags: [turn.tag] }),
  };
  const [latest] = await client.listExecutions({ threadId: session, limit: 1 });
  const message = { content, executionId, ...(turn.context && { context: turn.context }) };
  const isThere = () => hasThread(client, session, organizationId);
  const sent =
    (await isThere()) ||
    !(await makeThread(client, { agent, threadId: session, ...standing, messages: [message] }, isThere))
      ? (await client.queueMessage(session, message)).id
      : undefined;
  const before = await client.getExecution(session, executionId).catch(() => undefined);
  if (before) return;
  for await (const { type, data } of client.events(session, { after: latest?.firstSeq ?? 0 })) {
    if (type === 'execution.started' && data.executionId === executionId) return;
    if (type === 'item.rejected' && data.id === sent)
      throw new RuntimeError(data.code, `The thread "${session}" refused the turn: ${data.reason}.`);
  }
}

/** The open wait of a thread that has no rounds left; undefined if it is not paused. */
export async function findPause(client: RuntimeClient, threadId: string) {
  const waits = await client.listWaits({ threadId });
  return waits.find((wait) => wait.kind === 'paused' && wait.threadId === threadId);
}

/** Ends a paused turn: its session is given another one. */
export async function leavePause(client: RuntimeClient, session: string, executionId: string): Promise<void> {
  const reason = 'It was paused, and its session was given another turn.';
  await client.cancelExecution(session, { executionId, reason }).catch((error) => {
    // Somebody else has ended it.
    if (!isRuntimeError(error, 'ExecutionNotCancelable')) throw error;
  });
}

async function hasThread(
  client: RuntimeClient,
  session: string,
  organizationId: string | undefined,
): Promise<boolean> {
  try {
    const { organizationId: owner } = await client.getThread(session);
    if (organizationId === undefined || owner === undefined || owner === organizationId) return true;
  } catch (error) {
    if (isRuntimeError(error, 'ThreadNotFound')) return false;
    throw error;
  }
  throw new RuntimeError(
    'ThreadNotFound',
    `There is no thread "${session}" of the organisation "${organizationId}".`,
  );
}

const POLL_MS = 100;
const STOP_REASON = 'The user has stopped the turn.';

/**
 * Polls `shouldStop`, since nothing reports a change of it; an error means false. Polling ends once the request to
 * cancel the turn is stored. Returns a function that stops polling.
 */
export function watchStop(
  client: RuntimeClient,
  { session, id }: Turn,
  shouldStop: (() => boolean | Promise<boolean>) | undefined,
): () => void {
  if (!shouldStop) return () => undefined;
  let isOver = false;
  let next: NodeJS.Timeout;
  const look = async () => {
    const stop = await (async () => shouldStop())().catch(() => false);
    const isStopped = stop && !isOver && (await tryStop(client, session, id));
    if (!isOver && !isStopped) next = setTimeout(look, POLL_MS);
  };
  next = setTimeout(look, 0);
  return () => {
    isOver = true;
    clearTimeout(next);
  };
}

/** Returns false if the execution does not exist yet, or cannot be cancelled now: it must then be tried again. */
async function tryStop(client: RuntimeClient, session: string, executionId: string): Promise<boolean> {
  try {
    await client.cancelExecution(session, { executionId, reason: STOP_REASON });
    return true;
  } catch (error) {
    // The execution has ended already: there is nothing to stop.
    return isRuntimeError(error, 'ExecutionNotCancelable');
  }
}
