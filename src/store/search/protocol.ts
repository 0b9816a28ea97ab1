/** What a search says to its thread and hears from it: one answer to each message, in order. */

export type ToSearchThread =
  /** First, once. */
  | { readonly kind: 'pattern'; readonly pattern: string }
  /** A piece of the file that is searched now. */
  | { readonly kind: 'chunk'; readonly data: Uint8Array; readonly isLast: boolean };

export interface FoundLines {
  readonly matches: string[];
  readonly lineNumbers: number[];
}

/** Null until the last chunk of a file. */
export type FromSearchThread = FoundLines | null;
