/** The key-value store of a thread as callers see it (runtime §14). Types alone. */

/**
 * Values that outlive an execution. They are not encrypted: keep secrets in env. Other threads cannot read them: on the state of a parent or a child both methods reject
 * with `ValuesNotShared` (runtime §14.1.3).
 */
export interface ThreadValues {
  /** Returns a copy of the value as it was set, or null; changing the copy changes nothing. */
  getValue<T = unknown>(key: string): Promise<T | null>;
  /**
   * Stores a JSON value under a key of at most 512 characters, durable once resolved; null and undefined delete.
   * Rejects with `InvalidValue` naming the part that is not JSON, `LimitExceeded` (256 KiB of JSON, 10,000 keys), `ThreadTerminated`.
   */
  setValue(key: string, value: unknown): Promise<void>;
}
