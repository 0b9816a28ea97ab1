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
