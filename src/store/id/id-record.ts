/** Finds ids by their prefix, for people who type them. */

export type IdKind = 'thread' | 'task' | 'execution' | 'wait' | 'action' | 'effect' | 'token' | 'request';

export interface FindIds {
  readonly kind: IdKind;
  /** Case-sensitive. */
  readonly prefix: string;
  readonly limit: number;
}
