/** What a client has sent to threads and not seen taken, and the wait until all of it has been: asked for in bounded answers. */
import { isRuntimeError } from '../../core/value/error.ts';
import type { ThreadRecord } from '../../store/port/thread-store.ts';
import type { OutgoingMessage } from '../outgoing.ts';
import type { IdleOptions } from '../wait-for-idle.ts';
import { type HttpPlace, pathOf } from './http-place.ts';
import { askJson } from './patience.ts';

interface Sent {
  readonly ids: Set<string>;
  /** Of these, what was said as a user. */
  readonly words: Set<string>;
  signalled: boolean;
}

/** Of one answer: what lies between ends requests that take long. */
const ASK_FOR_MS = 20_000;

export class SentItems {
  readonly #byThread = new Map<string, Sent>();

  add(threadId: string, id: string, { role = 'user' }: Pick<OutgoingMessage, 'role'>): void {
    const { ids, words } = this.#of(threadId);
    ids.add(id);
    if (role === 'user') words.add(id);
  }

  signalled(threadId: string): void {
    this.#of(threadId).signalled = true;
  }

  /** Throws `Timeout`. */
  async waitForIdle(
    place: HttpPlace,
    threadId: string,
    { timeoutMs = 60_000, sent: given, signal }: IdleOptions,
  ): Promise<ThreadRecord> {
    const deadline = performance.now() + timeoutMs;
    const own = this.#byThread.get(threadId);
    const sent = given ?? own;
    const ids = [...(sent?.ids ?? [])];
    const words = [...(sent?.words ?? [])];
    const signalled = sent?.signalled ?? false;
    for (;;) {
      const left = Math.max(deadline - performance.now(), 0);
      const forMs = Math.ceil(Math.min(left, ASK_FOR_MS));
      try {
        const record = await askJson<ThreadRecord>(place, {
          method: 'POST',
          path: pathOf`/v1/threads/${threadId}/idle`,
          body: { timeoutMs: forMs, sent: { ids, words, signalled } },
          again: true,
          withinMs: forMs + ASK_FOR_MS,
          signal,
        });
        if (!given && own) this.#taken(threadId, own, ids);
        return record;
      } catch (error) {
        if (!isRuntimeError(error, 'Timeout') || left <= ASK_FOR_MS) throw error;
      }
    }
  }

  #taken(threadId: string, own: Sent, ids: readonly string[]): void {
    for (const id of ids) {
      own.ids.delete(id);
      own.words.delete(id);
    }
    if (own.ids.size > 0) return;
    this.#byThread.delete(threadId);
  }

  #of(threadId: string): Sent {
    const sent = this.#byThread.get(threadId) ?? { ids: new Set(), words: new Set(), signalled: false };
    this.#byThread.set(threadId, sent);
    return sent;
  }
}
