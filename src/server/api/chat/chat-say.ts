/**
 * What a user says to a thread that its first message makes: under an id of the client's, once, however often it is sent.
 */

import type { OutgoingMessage } from '../../../client/outgoing.ts';
import { isRuntimeError, RuntimeError } from '../../../core/value/error.ts';
import type { ThreadRecord } from '../../../store/port/thread-store.ts';
import { type Caller, requireReachable, standingContext } from '../caller.ts';
import type { ApiHost } from '../host.ts';
import { beginOfMessage, type ChatBegin } from './chat-begin.ts';

/** Null where there is none yet. Throws `ThreadNotFound` for one of somebody else. */
export async function findChat(
  { client }: Pick<ApiHost, 'client'>,
  caller: Caller,
  threadId: string,
): Promise<ThreadRecord | null> {
  const found = await client.getThread(threadId).catch(orNotFound);
  return found && requireReachable(client, caller, threadId);
}

export function orNotFound(error: unknown): null {
  if (isRuntimeError(error, 'ThreadNotFound')) return null;
  throw error;
}

/** Throws `AgentNotFound` for one that the project, where it is known, does not have. */
export function requireAgent({ agents }: ApiHost, agent: string): void {
  const known = agents?.();
  if (known && !known.some(({ name }) => name === agent))
    throw new RuntimeError(
      'AgentNotFound',
      `There is no agent "${agent}": /v1/agents lists those there are.`,
    );
}

export interface Saying {
  /** Of the thread that the message makes. */
  readonly agent: string;
  readonly userId?: string | undefined;
  readonly given?: Readonly<Record<string, unknown>> | undefined;
  /** What was said before, where the thread is made. */
  readonly before?: readonly OutgoingMessage[];
  readonly found: ThreadRecord | null;
  readonly threadId: string;
  readonly message: OutgoingMessage & { readonly id: string };
  /** Rejects where somebody has made the thread meanwhile: as `isMade` says. */
  readonly alone?: boolean;
}

/** The thread is there already. */
export function isMade(error: unknown): boolean {
  return isRuntimeError(error, 'InvalidStart') || isRuntimeError(error, 'ExecutionRunning');
}

/** Answers where the response to it begins. */
export async function say(host: ApiHost, caller: Caller, saying: Saying): Promise<ChatBegin> {
  const { client } = host;
  const { agent, given, before = [], found, threadId, message } = saying;
  const begin = await beginOfMessage(client, found ?? { id: threadId, lastSeq: 0 }, message.id);
  if (found) {
    await client.queueMessage(threadId, message);
    return begin;
  }
  requireAgent(host, agent);
  await client
    .startThread({
      agent,
      threadId,
      arguments: given,
      userId: caller.userId ?? saying.userId,
      context: standingContext(caller),
      messages: [...before, message],
    })
    .catch(async (error) => {
      // The same message, sent twice at once, has made it meanwhile.
      if (saying.alone || !isMade(error) || !(await findChat(host, caller, threadId))) throw error;
      await client.queueMessage(threadId, message);
    });
  return begin;
}
