/** Tasks of agents elsewhere that calls of threads have begun: a part of the ThreadStore port. Times are microseconds since 1970. */

export interface A2aCallKey {
  readonly threadId: string;
  readonly step: number;
  readonly index: number;
}

export interface A2aTaskRecord extends A2aCallKey {
  readonly agent: string;
  readonly contextId: string;
  readonly messageId: string;
  /** As the card told it when the call began: JSON. Null as long as nothing can have been sent. */
  readonly endpoint: unknown;
  /** Null until it is known. */
  readonly taskId: string | null;
  /** How many of its questions are answered: as it has heard, or as it may have. */
  readonly answers: number;
  /** It may go on: it is to be cancelled where its call is over. */
  readonly open: boolean;
  readonly sentAt: number;
  /** Since when it has not been reached; null where it was. */
  readonly silentSince: number | null;
}

export type BeginA2aTask = Omit<
  A2aTaskRecord,
  'endpoint' | 'taskId' | 'answers' | 'open' | 'sentAt' | 'silentSince'
>;

/** What has become known; what is absent stays as it is. */
export interface NoteA2aTask extends A2aCallKey {
  readonly endpoint?: unknown;
  readonly taskId?: string;
  readonly answers?: number;
  /** The number of an answer, from 0, that it has certainly not heard: it is to be sent again. */
  readonly unsent?: number;
  /** It has ended, or was never begun. */
  readonly over?: true;
  /** Whether it was reached just now. */
  readonly reached?: boolean;
  /** It was to be cancelled, and was not to be reached for it. */
  readonly cancelFailed?: true;
}

export interface A2aStore {
  /** Before its agent is looked for. The call again answers what is there. */
  begin(command: BeginA2aTask): Promise<A2aTaskRecord>;
  /** Answers what is there then; null where the thread was removed. */
  note(command: NoteA2aTask): Promise<A2aTaskRecord | null>;
  /**
   * Those that may go on while their call, or their thread, is over: nobody wants them any more. Of one thread where it is given. At most 100; one that could
   * not be cancelled a hundred times is given up.
   */
  listUnwanted(threadId?: string): Promise<readonly A2aTaskRecord[]>;
}
