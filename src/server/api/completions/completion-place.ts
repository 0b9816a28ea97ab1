/**
 * Chooses the thread of a completion and the id of its message. Chat Completions have no message ids, and their clients
 * retry by themselves if they get no response.
 * P1. If a thread is named, a message is identified by its number among the user's messages and by its content. A
 *     repeated request is the same message.
 * P2. An `Idempotency-Key` identifies the message, and the thread if none is named.
 * P3. Without both, each request begins its own thread. But a request that is marked as a retry finds the thread of its
 *     first attempt: the first request with a given content gets the thread id derived from it.
 */

import { createHash } from 'node:crypto';
import { newThreadId } from '../../../client/new-thread-id.ts';
import { deriveThreadId } from '../../../core/thread/thread-id.ts';
import type { ThreadRecord } from '../../../store/port/thread-store.ts';
import type { Caller } from '../caller.ts';
import { findChat } from '../chat/send-chat-message.ts';
import type { Conversation } from '../conversation/conversation.ts';
import type { ApiHost } from '../host.ts';
import { readIdempotencyKey } from '../idempotency-key.ts';
import { refuseRequest } from '../problem.ts';
import type { CompletionRequest } from './completion-request.ts';

export interface CompletionPlace {
  readonly threadId: string;
  readonly messageId: string;
  readonly found: ThreadRecord | null;
  /** True if a repeated request is the same message. */
  readonly repeatable: boolean;
  /** True if no other request may share the thread. */
  readonly alone?: boolean;
}

interface PlaceInput {
  readonly request: Request;
  readonly body: CompletionRequest;
  readonly said: Pick<Conversation, 'said' | 'message'>;
  readonly threadId: string | undefined;
}

/** Throws `ThreadNotFound` for a thread that the caller may not reach. */
export async function findPlace(
  host: ApiHost,
  caller: Caller,
  { request, body, said: { said, message }, threadId: named }: PlaceInput,
): Promise<CompletionPlace> {
  const { headers } = request;
  const { model, messages, user = null } = body;
  const key = readIdempotencyKey(headers);
  const messageId = key?.id ?? `cc-${digest(said, message)}`;
  const place = async (threadId: string, repeatable = true): Promise<CompletionPlace> => ({
    threadId,
    messageId,
    found: await findChat(host, caller, { agent: model, threadId }),
    repeatable,
  });
  // P1: a thread is named.
  if (named !== undefined) return place(named);
  const whose = [caller.organizationId ?? null, caller.userId, user, model];
  // P2: the key names both.
  if (key) return place(deriveThreadId(model, digest(...whose, key.given)));
  // P3: a retry finds the first request with this content.
  const tried = headers.get('x-stainless-retry-count');
  const first = await place(deriveThreadId(model, digest(...whose, messages)), tried !== null);
  if (tried !== null && tried !== '0' && first.found?.terminatedAt == null) return first;
  return first.found ? newPlace(first, model) : { ...first, alone: true };
}

/** Returns the same place with a new thread. */
export function newPlace(place: CompletionPlace, agent: string): CompletionPlace {
  return { ...place, threadId: newThreadId(agent), found: null };
}

/** The thread that a request names. Throws `InvalidRequest`. */
export function namedThread({ headers }: Request, { metadata }: CompletionRequest): string | undefined {
  const [header, given] = [headers.get('x-thread-id'), metadata?.thread_id];
  if (header !== null && given !== undefined && header !== given)
    refuseRequest('"metadata.thread_id" and the header X-Thread-Id name different threads: give only one.');
  return header ?? given;
}

/** Returns a hash that is short enough for a message id. */
function digest(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40);
}
