/**
 * Sends a user's message to a thread, which its first message creates. The client chooses the message's id: a repeated
 * message is stored once.
 */

import { makeThread, nullIfThreadNotFound } from '../../../client/make-thread.ts';
import type { OutgoingMessage, StartMessage } from '../../../client/outgoing.ts';
import type { ThreadRecord } from '../../../store/thread/thread-record.ts';
import { type AddressedThread, requireThreadOf } from '../agent-thread.ts';
import { type Caller, callerContext } from '../caller.ts';
import type { ApiHost } from '../host.ts';
import { requireAgent } from '../known-agent.ts';
import { type ChatBegin, findMessageBegin } from './chat-begin.ts';

/** Null if there is no such thread yet. Throws `ThreadNotFound` for one of another agent, or out of the caller's reach. */
export async function findChat(
  { client }: Pick<ApiHost, 'client'>,
  caller: Caller,
  place: AddressedThread,
): Promise<ThreadRecord | null> {
  const found = await client.getThread(place.threadId).catch(nullIfThreadNotFound);
  return found && requireThreadOf(client, caller, place);
}

export interface ChatMessageInput {
  /** Agent of the thread, if the message creates it. */
  readonly agent: string;
  readonly userId?: string | undefined;
  readonly given?: Readonly<Record<string, unknown>> | undefined;
  /** Earlier messages, stored if the thread is created. */
  readonly before?: () => Promise<readonly StartMessage[]>;
  readonly found: ThreadRecord | null;
  readonly threadId: string;
  readonly message: OutgoingMessage & { readonly id: string };
  /** If true, `say` rejects if another caller has created the thread in the meantime (see `isAlreadyCreated`). */
  readonly alone?: boolean;
}

/** Returns where the response to the message begins. */
export async function sendChatMessage(
  host: ApiHost,
  caller: Caller,
  saying: ChatMessageInput,
): Promise<ChatBegin> {
  const { client } = host;
  const { agent, given, before, found, threadId, message } = saying;
  const begin = await findMessageBegin(client, found ?? { id: threadId, lastSeq: 0 }, message.id);
  if (found) {
    await client.queueMessage(threadId, message);
    return begin;
  }
  requireAgent(host, agent);
  // Derived, so that a repeated start stores each message once.
  const withId = (each: StartMessage, n: number) => ({ id: `${message.id.slice(0, 56)}-${n}`, ...each });
  const start = {
    agent,
    threadId,
    arguments: given,
    userId: caller.userId ?? saying.userId,
    context: callerContext(caller),
    messages: [...((await before?.()) ?? []).map(withId), message],
  };
  // A concurrent repeat of this message may have created the thread in the meantime.
  const isThere = async () => !saying.alone && (await findChat(host, caller, { agent, threadId }));
  if (!(await makeThread(client, start, isThere))) await client.queueMessage(threadId, message);
  return begin;
}
