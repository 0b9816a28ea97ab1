/** Finds ids by their prefix, for people who type them. */

export type IdKind = 'thread' | 'task' | 'execution' | 'wait' | 'action' | 'effect' | 'token' | 'request';

export interface FindIds {
  readonly kind: IdKind;
  /** Case-sensitive. */
  readonly prefix: string;
  readonly limit: number;
}

export interface IdStore {
  /**
   * Ids of this kind with this prefix, shortest first, each once; deleted threads are left out. Scans all ids of the
   * kind: not for use by programs.
   */
  find(asked: FindIds): Promise<readonly string[]>;
}
