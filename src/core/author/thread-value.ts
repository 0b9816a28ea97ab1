/** The key-value store of a thread as callers see it (runtime §14). Types alone. */

/**
 * For values that outlive an execution. Other threads do not see them, but for those of the same user by `getUserValues`, and they are not encrypted: secrets belong into env. By the state
 * of a parent or a child all methods reject with `ValuesNotShared` (runtime §14.1.3).
 */
export interface ThreadValues {
  /** The value as it was set, or null. It is a copy: changing it changes nothing. */
  getValue<T = unknown>(key: string): Promise<T | null>;
  /**
   * What other threads of this thread's user, and of its organisation where it has one, keep under a key: copies, those of the threads that changed last first,
   * 20 at most. Empty for a thread without a user.
   */
  getUserValues<T = unknown>(key: string): Promise<readonly T[]>;
  /**
   * Stores a JSON value under a key of at most 512 characters, durable once resolved; null and undefined delete.
   * Rejects with `InvalidValue` naming the part that is not JSON, `LimitExceeded` (256 KiB of JSON, 10,000 keys), `ThreadTerminated`.
   */
  setValue(key: string, value: unknown): Promise<void>;
}
