/**
 * What a client has sent to threads and not seen taken: what `waitForIdle` waits for.
 * S1. It stays small where nobody waits, as in a server: what was sent longest ago is forgotten. A thread takes what it is sent in order, so
 *     the newest say of the older ones that they have arrived.
 * S2. Each thread keeps its newest, as long as it is among those that were sent to last.
 */

/** What a client has sent to one thread and not yet seen confirmed. */
export interface Sent {
  /** Ids of items, in the order in which they were sent; those that have arrived are removed. */
  readonly ids: Set<string>;
  /** Of these, what was said to it as a user: it lets a thread go that is paused. */
  readonly words: Set<string>;
  /** A stop or an end was requested: the store knows nothing of it until it is carried out. */
  signalled: boolean;
  /** This client has ended it. */
  ended: boolean;
}

/** Of threads, and of ids over all of them: twice as many until it is looked at again. */
const KEPT = 10_000;
/** S2: the newest of one thread. */
const KEPT_OF_THREAD = 1000;

export class SentLedger {
  /** The thread that was sent to last is the last one. */
  readonly #byThread = new Map<string, Sent>();
  #noted = 0;

  /** Threads that it remembers. */
  get size(): number {
    return this.#byThread.size;
  }

  /** This client has ended it. */
  hasEnded(threadId: string): boolean {
    return this.#byThread.get(threadId)?.ended ?? false;
  }

  /** A message, or a tool. */
  add(threadId: string, id: string): void {
    this.of(threadId).ids.add(id);
  }

  /** With its role, which is `user` unless given. */
  addMessage(threadId: string, id: string, { role = 'user' }: { readonly role?: string }): void {
    this.add(threadId, id);
    if (role === 'user') this.of(threadId).words.add(id);
  }

  /** What is sent from now on is in it, too, as long as the thread is remembered (S2). */
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
    if (this.#noted > KEPT) this.#forgetOldest();
    return sent;
  }

  /** S1: what was sent longest ago. */
  #forgetOldest(): void {
    this.#noted = 0;
    let ids = 0;
    let threads = 0;
    for (const [threadId, sent] of [...this.#byThread].toReversed()) {
      // S2: its newest stay.
      for (const id of [...sent.ids].slice(0, -KEPT_OF_THREAD)) forget(sent, id);
      threads += 1;
      ids += sent.ids.size;
      if (threads > KEPT || ids > KEPT) this.#byThread.delete(threadId);
    }
  }
}

function forget({ ids, words }: Sent, id: string): void {
  ids.delete(id);
  words.delete(id);
}
