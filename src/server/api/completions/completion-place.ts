/**
 * Chooses the thread of a completion and the id of its message. Chat Completions have no message ids, and their clients
 * retry by themselves if they get no response. A request is a repetition only if that is provable.
 * - If a thread is named, a message is identified by the conversation that ends with it. A client that sends no history
 *   may say the same again: that is a new message once the answer to the last one was delivered, unless the client
 *   marks a retry. With a history, it then asks for another answer; and if the history shows that the message stands in
 *   the place of an earlier one, it is an edit of that one (completion-point.ts).
 * - An `Idempotency-Key` identifies the message, and the thread if none is named.
 * - Without both, each request begins its own thread. But a request that is marked as a retry finds the thread of its
 *   first attempt: the threads of the same request are numbered, and it is the last one.
 */

import { hash } from 'node:crypto';
import { newThreadId } from '../../../client/new-thread-id.ts';
import { deriveThreadId } from '../../../core/thread/thread-id.ts';
import { isRuntimeError } from '../../../core/value/error.ts';
import type { ThreadRecord } from '../../../store/thread/thread-record.ts';
import { requireThreadOf } from '../agent-thread.ts';
import type { Caller } from '../caller.ts';
import type { ClientResults } from '../conversation/conversation.ts';
import type { ApiHost } from '../host.ts';
import { type IdempotencyKey, readIdempotencyKey } from '../idempotency-key.ts';
import { refuseRequest } from '../problem.ts';
import { findOwnThread } from '../turn/turn.ts';
import { findPoint } from './completion-point.ts';
import { type CompletionRequest, isTyped } from './completion-request.ts';

export interface CompletionPlace {
  readonly threadId: string;
  readonly messageId: string;
  readonly found: ThreadRecord | null;
  /** True if a repeated request is the same message. */
  readonly repeatable: boolean;
  /** True if a further message with the same words gets the next number, once the answer was delivered. */
  readonly counted?: boolean;
  /** True if no other request may share the thread. */
  readonly alone?: boolean;
  /** Set if the message stands in the place of this one of the thread; `edits`: with another text. */
  readonly again?: { readonly messageId: string; readonly edits: boolean; readonly requestId?: string };
}

interface PlaceInput {
  readonly request: Request;
  readonly body: CompletionRequest;
  readonly threadId: string | undefined;
}

/** Throws `ThreadNotFound` for a thread that the caller may not reach. */
export async function findPlace(
  host: ApiHost,
  caller: Caller,
  { request: { headers }, body, threadId: named }: PlaceInput,
): Promise<CompletionPlace> {
  const { model: agent, messages, user = null } = body;
  const key = readIdempotencyKey(headers);
  const isRetry = Number(headers.get('x-stainless-retry-count')) > 0;
  const spoken = messages.filter(isSpoken);
  const words = wordsOf(body);
  const place = async (threadId: string, messageId: string): Promise<CompletionPlace> => ({
    threadId,
    messageId,
    found: await findOwnThread(host, caller, { agent, threadId }),
    repeatable: true,
  });
  if (named !== undefined) {
    if (hasHistory(spoken))
      return placeAgain(host, await place(named, key?.id ?? `cc-${digest(...words)}`), {
        spoken,
        key,
        isRetry,
      });
    if (key) return place(named, key.id);
    const messageId = await findCounted(host, { threadId: named, words, isRetry });
    return { ...(await place(named, messageId)), counted: true };
  }
  const whose = [caller.organizationId ?? null, caller.userId, user, agent];
  if (key) return place(deriveThreadId(agent, digest(...whose, key.given)), key.id);
  // A retry finds the last request with this content.
  const messageId = `cc-${digest(...words)}`;
  const asked = [...whose, messages, ...words.slice(1)];
  const nth = (n: number) => deriveThreadId(agent, digest(...asked, ...(n > 0 ? [n] : [])));
  const isThere = async (n: number) =>
    (await findOwnThread(host, caller, { agent, threadId: nth(n) })) !== null;
  const count = await countKnown(isThere);
  const last = isRetry && count > 0 ? await place(nth(count - 1), messageId) : null;
  if (last?.found && last.found.terminatedAt == null) return last;
  const repeatable = headers.has('x-stainless-retry-count');
  const next = await place(nth(count), messageId);
  // Another request has taken the number in the meantime.
  return next.found ? newPlace({ ...next, repeatable }, agent) : { ...next, repeatable, alone: true };
}

interface AgainInput {
  readonly spoken: Spoken;
  readonly key: IdempotencyKey | null;
  readonly isRetry: boolean;
}

/** A message under a key that the thread knows is a repetition. */
async function placeAgain(
  { client }: ApiHost,
  place: CompletionPlace,
  { spoken, key, isRetry }: AgainInput,
): Promise<CompletionPlace> {
  const { threadId, found } = place;
  const { queue } = client.store;
  if (!found || (key && (await queue.readDelivery(threadId, key.id)) !== 'unknown')) return place;
  const point = await findPoint(client, threadId, spoken);
  if (!point) return { ...place, counted: key === null };
  const { messageId, same } = point;
  const counted = { ...place, messageId, counted: true };
  if (same && (key || isRetry || (await queue.readDelivery(threadId, messageId)) !== 'delivered'))
    return counted;
  return { ...counted, again: { messageId, edits: !same, ...(key && { requestId: key.id }) } };
}

/** The message whose answer the results of a client's tools continue; undefined if it has no number. */
export async function findContinued(
  host: ApiHost,
  body: CompletionRequest,
  threadId: string,
): Promise<string | undefined> {
  const end = body.messages.findLastIndex(({ role }) => role === 'user') + 1;
  const messages = body.messages.slice(0, end);
  if (hasHistory(messages.filter(isSpoken))) return undefined;
  return findCounted(host, { threadId, words: wordsOf({ ...body, messages }), isRetry: true });
}

type Spoken = CompletionRequest['messages'];
/** Results are left out: a message that was sent while a call was open is sent again behind the result of the call. */
const isSpoken = ({ role }: Spoken[number]) => role === 'user' || role === 'assistant';
const hasHistory = (spoken: Spoken) => spoken.some(({ role }) => role === 'assistant');

/** What tells a message from another one: the conversation that ends with it, and the type of its answer, if it has one. */
function wordsOf(body: CompletionRequest): readonly unknown[] {
  const spoken = body.messages.filter(isSpoken);
  return isTyped(body) ? [spoken, body.response_format] : [spoken];
}

interface CountedMessage {
  readonly threadId: string;
  readonly words: readonly unknown[];
  readonly isRetry: boolean;
}

/** The same words have numbers. */
async function findCounted(
  { client }: ApiHost,
  { threadId, words, isRetry }: CountedMessage,
): Promise<string> {
  const { queue } = client.store;
  const nth = (n: number) => `cc-${digest(...words, n)}`;
  const deliveryOf = (n: number) => queue.readDelivery(threadId, nth(n));
  const count = await countKnown(async (n) => (await deliveryOf(n)) !== 'unknown');
  if (count === 0 || (!isRetry && (await deliveryOf(count - 1)) === 'delivered')) return nth(count);
  return nth(count - 1);
}

/** Returns how many there are, numbered from 0. Few are looked up, however many there are. */
async function countKnown(isKnown: (n: number) => Promise<boolean>): Promise<number> {
  let [known, unknown] = [-1, 0];
  while (await isKnown(unknown)) [known, unknown] = [unknown, unknown * 2 + 1];
  while (unknown - known > 1) {
    const middle = Math.floor((known + unknown) / 2);
    if (await isKnown(middle)) known = middle;
    else unknown = middle;
  }
  return unknown;
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
  return hash('sha256', JSON.stringify(parts)).slice(0, 40);
}

interface AskedResults {
  readonly agent: string;
  readonly results: ClientResults;
  /** Absent: the thread whose calls they answer. */
  readonly named: string | undefined;
}

/**
 * Returns the thread that has asked for results: a call is given to a client under the id of its wait, so a client that
 * names no thread finds it again. Null if none has, or not the named one. Throws `ThreadNotFound`, `InvalidRequest`.
 */
export async function findAsking(
  { client }: ApiHost,
  caller: Caller,
  { agent, results, named }: AskedResults,
): Promise<ThreadRecord | null> {
  const asking = await Promise.all(
    [...results.keys()].map((waitId) =>
      client.getWait(waitId).then(
        (wait) => wait.threadId,
        (error: unknown) => {
          // The id of a call that another server has made, or that is not asked yet.
          if (isRuntimeError(error, 'WaitNotFound')) return null;
          throw error;
        },
      ),
    ),
  );
  const [threadId, other] = new Set(asking.filter((id) => id !== null && (named ?? id) === id));
  if (threadId == null) return null;
  if (other !== undefined)
    return refuseRequest('tool_call_id: the last messages have results for two threads.');
  return requireThreadOf(client, caller, { agent, threadId });
}
