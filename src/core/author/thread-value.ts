/** The key-value store of a thread as callers see it (runtime §14). Types alone. */

/**
 * Values that outlive an execution. They are not encrypted: keep secrets in env. Other threads cannot read them, except
 * threads of the same user by `getUserValues`. On the state of a parent or a child all methods reject with
 * `ValuesNotShared` (runtime §14.1.3).
 */
export interface ThreadValues {
  /** Returns a copy of the value as it was set, or null; changing the copy changes nothing. */
  getValue<T = unknown>(key: string): Promise<T | null>;
  /**
   * Returns what other threads of this thread's user, and of its organisation if it has one, keep under a key: copies,
   * those of the most recently changed threads first, at most 20. Empty for a thread without a user.
   */
  getUserValues<T = unknown>(key: string): Promise<readonly T[]>;
  /**
   * Stores a JSON value under a key of at most 512 characters, durable once resolved; null and undefined delete.
   * Rejects with `InvalidValue` naming the part that is not JSON, `LimitExceeded` (256 KiB of JSON, 10,000 keys), `ThreadTerminated`.
   */
  setValue(key: string, value: unknown): Promise<void>;
}
