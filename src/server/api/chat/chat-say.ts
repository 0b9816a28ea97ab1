/**
 * What a user says to a thread that its first message makes: under an id of the client's, once, however often it is sent.
 */

import { makeThread, orNotFound } from '../../../client/make-thread.ts';
import type { OutgoingMessage } from '../../../client/outgoing.ts';
import type { ThreadRecord } from '../../../store/port/thread-store.ts';
import { type Caller, requireReachable, standingContext } from '../caller.ts';
import type { ApiHost } from '../host.ts';
import { requireAgent } from '../known-agent.ts';
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
  const start = {
    agent,
    threadId,
    arguments: given,
    userId: caller.userId ?? saying.userId,
    context: standingContext(caller),
    messages: [...before, message],
  };
  // The same message, sent twice at once, may have made it meanwhile.
  const isThere = async () => !saying.alone && (await findChat(host, caller, threadId));
  if (!(await makeThread(client, start, isThere))) await client.queueMessage(threadId, message);
  return begin;
}
