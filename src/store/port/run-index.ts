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
  /** Of its context, else the execution's id; then the context's session and trace. */
  readonly runId: string;
  readonly sessionId: string | null;
  readonly traceId: string | null;
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
  /** These three find runs that somebody has given a context. */
  readonly runId?: string;
  readonly sessionId?: string;
  readonly traceId?: string;
  readonly agent?: string;
  readonly state?: RunRecordState;
  /** 50 unless given. */
  readonly limit?: number;
}

export interface RunIndex {
  /** The latest first. */
  list(options?: ListRuns): Promise<readonly RunRecord[]>;
  /** By the execution's id, or by the id that its context gives the run; the latest where several have it. */
  get(id: string, threadId?: string): Promise<RunRecord | null>;
  /** The one that had begun when the log's row `seq` was written. */
  at(threadId: string, seq: number): Promise<RunRecord | null>;
}
