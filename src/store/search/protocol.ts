/** Messages between a search and its thread: one answer to each message, in order. */

export type ToSearchThread =
  /** Sent first, and once. */
  | { readonly kind: 'pattern'; readonly pattern: string }
  /** A piece of the present file. */
  | { readonly kind: 'chunk'; readonly data: Uint8Array; readonly isLast: boolean };

export interface FoundLines {
  readonly matches: string[];
  readonly lineNumbers: number[];
}

/** Null until the last chunk of a file. */
export type FromSearchThread = FoundLines | null;
