/**
 * The key-value store of a thread (runtime §14), a part of the ThreadStore port. Values are JSON; each thread has its
 * own keys, and nothing but `listOfUser` reaches those of another.
 */

export interface StoredValue {
  readonly key: string;
  readonly value: unknown;
  /** Microseconds. */
  readonly updatedAt: number;
}

export interface ListValues {
  /** Only what comes behind this key, in the order of the engine. */
  readonly after?: string;
  /** Default 100. */
  readonly limit?: number;
}

export interface ValueStore {
  /** The value, or null: never set, deleted, or no such thread. */
  get(threadId: string, key: string): Promise<unknown>;
  /**
   * Keeps a value, for good once resolved; null and undefined delete. Given twice it has the effect of once.
   * Throws `InvalidValue` naming the place, `LimitExceeded` naming the limit, `ThreadTerminated`, `ThreadNotFound`.
   */
  set(threadId: string, key: string, value: unknown): Promise<void>;
  /**
   * What other threads of the same user and the same organisation (or none) keep under a key: those that changed last come first, 20 at most. Empty for a
   * thread without a user.
   */
  listOfUser(threadId: string, key: string): Promise<readonly unknown[]>;
  /** Ordered by key, from behind `after`. */
  list(threadId: string, options?: ListValues): Promise<readonly StoredValue[]>;
}
