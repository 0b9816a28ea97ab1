/** A thread's record and its event log, as readers see them. Times are microseconds since 1970. */
import type { Session } from '../../core/session.ts';
import type { StoredError, ThreadStatus } from '../../core/step.ts';

export interface ThreadRecord {
  readonly id: string;
  readonly agent: string;
  /** For display; null where nobody gave one. */
  readonly name: string | null;
  readonly userId: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly status: ThreadStatus;
  readonly stopReason: string | null;
  readonly lastError: StoredError | null;
  /** Where the session stands; without meaning for one AI side. */
  readonly session: Session;
  readonly parentId: string | null;
  readonly rootId: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly terminatedAt: number | null;
  /** Steps so far. */
  readonly lastStep: number;
  /** Children ever made. */
  readonly childCount: number;
  /** Number of the newest event. */
  readonly lastSeq: number;
}
