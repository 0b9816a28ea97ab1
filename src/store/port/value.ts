/**
 * The key-value store of a thread (runtime §14), a part of the ThreadStore port. Values are JSON. Each thread has its
 * own keys.
 */

export interface StoredValue {
  readonly key: string;
  readonly value: unknown;
  /** Microseconds since 1970. */
  readonly updatedAt: number;
}

export interface ListValues {
  /** Only keys after this one, in the sort order of the engine. */
  readonly after?: string;
  /** Default 100. */
  readonly limit?: number;
}

export interface ValueStore {
  /** The value; null if it was never set or was deleted, or if there is no such thread. */
  get(threadId: string, key: string): Promise<unknown>;
  /**
   * Stores a value, durably once the promise resolves; null and undefined delete the key. Idempotent.
   * Throws `InvalidValue`, which names the place, `LimitExceeded`, which names the limit, `ThreadTerminated`,
   * `ThreadNotFound`.
   */
  set(threadId: string, key: string, value: unknown): Promise<void>;
  /** Values ordered by key, starting after `after`. */
  list(threadId: string, options?: ListValues): Promise<readonly StoredValue[]>;
}
