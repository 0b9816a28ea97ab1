/** The key-value store of a thread as callers see it (runtime §14). Types alone. */

/** For what outlives an execution. No other thread sees it, and it is not encrypted: secrets belong into env. */
export interface ThreadValues {
  /** The value as it was set, or null. It is a copy: changing it changes nothing. */
  getValue<T = unknown>(key: string): Promise<T | null>;
  /**
   * Keeps a JSON value under a key of at most 512 characters, durable once resolved; null and undefined delete.
   * Rejects with `InvalidValue` naming what is no JSON, `LimitExceeded` (256 KiB of JSON, 10,000 keys), `ThreadTerminated`.
   */
  setValue(key: string, value: unknown): Promise<void>;
}
