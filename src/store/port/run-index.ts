/** The index of runs: one entry for each execution of any thread, kept by what begins and ends it. Reports are readings of the log. */

/** As a task's: `input-required` while its thread waits for a person. */
export type RunRecordState = 'working' | 'input-required' | 'completed' | 'canceled' | 'failed';

export const RUN_STATES: readonly RunRecordState[] = [
  'working',
  'input-required',
  'completed',
  'canceled',
  'failed',
];

export interface RunRecord {
  readonly threadId: string;
  /** The execution's id. */
  readonly id: string;
  /** The agent with which it began. */
  readonly agent: string;
  readonly state: RunRecordState;
  /** Why it ended; null while it lasts. */
  readonly reason: string | null;
  /** Microseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** The number of the log's row that begins it; null for one that began before there was an index. */
  readonly firstSeq: number | null;
}

/** All that are given must hold. */
export interface ListRuns {
  readonly threadId?: string;
  readonly agent?: string;
  readonly state?: RunRecordState;
  /** 50 unless given. */
  readonly limit?: number;
}

export interface RunIndex {
  /** The latest first. */
  list(options?: ListRuns): Promise<readonly RunRecord[]>;
  /** An execution's id is unique in its thread; where no thread is named, the latest of that id. */
  get(id: string, threadId?: string): Promise<RunRecord | null>;
  /** The one that had begun when the log's row `seq` was written. */
  at(threadId: string, seq: number): Promise<RunRecord | null>;
}
