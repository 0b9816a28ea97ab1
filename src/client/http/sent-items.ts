/**
 * Records what a client has sent to threads and not seen taken, and waits until all of it has been, in requests of
 * bounded duration.
 */
import { isRuntimeError } from '../../core/value/error.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { StartMessage } from '../outgoing.ts';
import { type Sent, SentLedger } from '../sent-ledger.ts';
import type { IdleOptions } from '../wait-for-idle.ts';
import type { HttpConnection } from './http-place.ts';
import { callRoute } from './patience.ts';

/** Longest duration of one request, in milliseconds: proxies in between end requests that take long. */
const MAX_REQUEST_MS = 20_000;
/** Most ids that the API accepts. The latest ones suffice, since a thread takes what it is sent in order. */
const MAX_REQUEST_IDS = 10_000;

export class SentItems {
  readonly #ledger = new SentLedger();

  add(threadId: string, id: string, message: Pick<StartMessage, 'role'>): void {
    this.#ledger.addMessage(threadId, id, message);
  }

  signalled(threadId: string): void {
    this.#ledger.of(threadId).signalled = true;
  }

  /** Throws `Timeout`. */
  async waitForIdle(
    place: HttpConnection,
    threadId: string,
    { timeoutMs = 60_000, sent: given, signal }: IdleOptions,
  ): Promise<ThreadRecord> {
    const deadline = performance.now() + timeoutMs;
    const own = given ? undefined : this.#ledger.of(threadId);
    const sent = given ?? own;
    const ids = [...(sent?.ids ?? [])].slice(-MAX_REQUEST_IDS);
    const words = [...(sent?.words ?? [])].slice(-MAX_REQUEST_IDS);
    const signalled = sent?.signalled ?? false;
    for (;;) {
      const left = Math.max(deadline - performance.now(), 0);
      const forMs = Math.ceil(Math.min(left, MAX_REQUEST_MS));
      try {
        const record = await callRoute(
          place,
          'POST /v1/threads/{threadId}/idle',
          { threadId },
          {
            body: { timeoutMs: forMs, sent: { ids, words, signalled } },
            again: true,
            withinMs: forMs + MAX_REQUEST_MS,
            signal,
          },
        );
        if (own) removeTaken(own, ids, signalled);
        return record;
      } catch (error) {
        if (!isRuntimeError(error, 'Timeout') || left <= MAX_REQUEST_MS) throw error;
      }
    }
  }
}

/** Removes what has been taken; what was sent in the meantime stays. */
function removeTaken(own: Sent, ids: readonly string[], signalled: boolean): void {
  for (const id of ids) {
    own.ids.delete(id);
    own.words.delete(id);
  }
  if (signalled) own.signalled = false;
}
