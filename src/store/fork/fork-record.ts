/** Forks: new threads with the history of another one up to a step. */
import type { ForkedPart } from '../../core/thread/forked.ts';

export interface MakeFork {
  readonly threadId: string;
  /** The id of the new thread: the key of the command. */
  readonly forkId: string;
  /** The step to fork after; the newest settled one unless given. */
  readonly at?: number | undefined;
  /** The agent of that step unless given. */
  readonly agent?: string | undefined;
  /** Copy values, files and variables as they are now, if the step is not the newest. */
  readonly state?: 'current' | undefined;
  /** The owner of the fork: that of the source unless given. */
  readonly userId?: string | undefined;
}

export interface ForkedThread extends ForkedPart {
  readonly threadId: string;
  readonly agent: string;
  /** Number of copied messages of every kind. */
  readonly messages: number;
  /** Set if it begins with a message. */
  readonly messageId?: string;
}

/** The column `forked_from` of a thread. */
export interface StoredOrigin {
  readonly threadId: string;
  readonly step: number;
  /** Identifies what was asked. */
  readonly digest: string;
}
