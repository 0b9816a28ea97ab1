/** Ids by their beginnings, for people who type them. */

export type IdKind = 'thread' | 'task' | 'execution' | 'wait' | 'action' | 'effect' | 'token' | 'request';

export interface FindIds {
  readonly kind: IdKind;
  /** In the case in which they are written. */
  readonly prefix: string;
  readonly limit: number;
}

export interface IdStore {
  /** Ids of this kind that begin so, the shortest first, each once; deleted threads are left out. Reads all of them: not for a program's use. */
  find(asked: FindIds): Promise<readonly string[]>;
}
