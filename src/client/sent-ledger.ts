/**
 * Records what a client has sent to threads and not seen taken: what `waitForIdle` waits for.
 * - The ledger stays small even if `waitForIdle` is never called, as in a server: the oldest entries are dropped. A
 *   thread takes what it is sent in order, so the newest entries show whether the older ones have arrived.
 * - A thread keeps its newest entries as long as it is among those that were sent to last.
 */

/** What a client has sent to one thread and not yet seen confirmed. */
export interface Sent {
  /** Ids of items, in the order in which they were sent; those that have arrived are removed. */
  readonly ids: Set<string>;
  /** Ids of the user messages among `ids`: they resume a thread that is paused. */
  readonly words: Set<string>;
  /**
   * True if a stop, continuation, cancellation or end was requested: the store shows it only once it is carried out.
   */
  signalled: boolean;
  /** True if this client has terminated the thread. */
  ended: boolean;
}

/** Most threads, and most ids over all threads, that are kept; up to twice as many between two clean-ups. */
const MAX_ENTRIES = 10_000;
/** Most ids that are kept of one thread. */
const MAX_IDS_PER_THREAD = 1000;

export class SentLedger {
  /** In the order in which threads were last sent to, the latest one last. */
  readonly #byThread = new Map<string, Sent>();
  #noted = 0;

  /** Number of threads that are remembered. */
  get size(): number {
    return this.#byThread.size;
  }

  /** True if this client has terminated the thread. */
  hasEnded(threadId: string): boolean {
    return this.#byThread.get(threadId)?.ended ?? false;
  }

  /** Records a message or a tool call. */
  add(threadId: string, id: string): void {
    this.of(threadId).ids.add(id);
  }

  /** Records a message with its role, which is `user` unless given. */
  addMessage(threadId: string, id: string, { role = 'user' }: { readonly role?: string }): void {
    this.add(threadId, id);
    if (role === 'user') this.of(threadId).words.add(id);
  }

  /** Returns the record of a thread. It stays up to date as long as the thread is remembered. */
  of(threadId: string): Sent {
    const sent = this.#byThread.get(threadId) ?? {
      ids: new Set(),
      words: new Set(),
      signalled: false,
      ended: false,
    };
    this.#byThread.delete(threadId);
    this.#byThread.set(threadId, sent);
    this.#noted += 1;
    if (this.#noted > MAX_ENTRIES) this.#forgetOldest();
    return sent;
  }

  /** Drops the oldest entries. */
  #forgetOldest(): void {
    this.#noted = 0;
    let ids = 0;
    let threads = 0;
    for (const [threadId, sent] of [...this.#byThread].toReversed()) {
      for (const id of [...sent.ids].slice(0, -MAX_IDS_PER_THREAD)) forget(sent, id);
      threads += 1;
      ids += sent.ids.size;
      if (threads > MAX_ENTRIES || ids > MAX_ENTRIES) this.#byThread.delete(threadId);
    }
  }
}

function forget({ ids, words }: Sent, id: string): void {
  ids.delete(id);
  words.delete(id);
}
