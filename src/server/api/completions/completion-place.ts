/**
 * Which thread a completion is of, and under which ids its message is sent. Chat Completions have no id of a message, and their clients send again
 * by themselves what they have heard nothing of.
 * P1. A thread that is named: its message is known by its number among the user's and by what it says. The same request again is the same message.
 * P2. An `Idempotency-Key` names the message, and the thread where none is named.
 * P3. Without both each request is a thread of its own. But for one that says it was sent before: it finds the thread of its first attempt, since the
 *     first request of these words has the id that they give it.
 */

import { createHash } from 'node:crypto';
import { newThreadId } from '../../../client/new-thread-id.ts';
import { deriveThreadId } from '../../../core/thread/thread-id.ts';
import type { ThreadRecord } from '../../../store/port/thread-store.ts';
import type { Caller } from '../caller.ts';
import { findChat } from '../chat/chat-say.ts';
import type { ApiHost } from '../host.ts';
import { refuseRequest } from '../problem.ts';
import type { CompletionRequest, CompletionTurn } from './completion-request.ts';

export interface CompletionPlace {
  readonly threadId: string;
  readonly messageId: string;
  readonly found: ThreadRecord | null;
  /** The same request again is the same message. */
  readonly repeatable: boolean;
  /** No other request is to be in its thread. */
  readonly alone?: boolean;
}

/** Throws `InvalidRequest`, and `ThreadNotFound` for a thread of somebody else. */
export async function findPlace(
  host: ApiHost,
  caller: Caller,
  {
    request,
    body,
    turn,
  }: { readonly request: Request; readonly body: CompletionRequest; readonly turn: CompletionTurn },
): Promise<CompletionPlace> {
  const { headers } = request;
  const key = headers.get('idempotency-key');
  const named = threadOf(headers.get('x-thread-id'), body.metadata?.thread_id);
  const messageId = key ?? `cc-${digest(turn.said, turn.message)}`;
  const place = async (threadId: string, repeatable = true): Promise<CompletionPlace> => ({
    threadId,
    messageId,
    found: await findChat(host, caller, threadId),
    repeatable,
  });
  // P1: a thread is named.
  if (named !== undefined) return place(named);
  const { model, messages, user = null } = body;
  const whose = [caller.organizationId ?? null, caller.userId, user, model];
  // P2: the key names both.
  if (key !== null) return place(deriveThreadId(model, digest(...whose, key)));
  // P3: one that was sent before finds the first of these words.
  const tried = headers.get('x-stainless-retry-count');
  const first = await place(deriveThreadId(model, digest(...whose, messages)), tried !== null);
  if (tried !== null && tried !== '0' && first.found?.terminatedAt == null) return first;
  return first.found ? newPlace(first, model) : { ...first, alone: true };
}

/** Another thread for the same. */
export function newPlace(place: CompletionPlace, agent: string): CompletionPlace {
  return { ...place, threadId: newThreadId(agent), found: null };
}

function threadOf(header: string | null, given: string | undefined): string | undefined {
  if (header !== null && given !== undefined && header !== given)
    refuseRequest('"metadata.thread_id" and the header X-Thread-Id name two threads: give one.');
  return header ?? given;
}

/** As long as an id of a message may well be. */
function digest(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40);
}
