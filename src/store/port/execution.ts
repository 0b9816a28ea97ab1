/**
 * Executions: what each of a thread's runs of the loop ran with, and how it ended. Their rows are kept by what begins and ends them, and are
 * the index of runs too. Reports are readings of the log.
 */
import type { Cancellation, CancelRequest, CancelVerdict } from '../../core/governance/cancellation.ts';
import type { RunContext } from '../../core/governance/run-context.ts';

/** As a task's: `input-required` while its thread waits for a person. */
export type RunRecordState = 'working' | 'input-required' | 'completed' | 'canceled' | 'failed';

export const RUN_STATES: readonly RunRecordState[] = [
  'working',
  'input-required',
  'completed',
  'canceled',
  'failed',
];

export interface ExecutionRecord {
  readonly id: string;
  readonly threadId: string;
  /** The agent with which it began. */
  readonly agent: string;
  readonly state: RunRecordState;
  /** Microseconds since 1970. */
  readonly startedAt: number;
  /** Null while it lasts. */
  readonly endedAt: number | null;
  /** Why it ended; null while it lasts. */
  readonly stopReason: string | null;
  /** The number of the log's row that begins it; null for one that began before the rows said so. */
  readonly firstSeq: number | null;
  /** As `state.execution.context` has it. */
  readonly context: RunContext;
  /** Somebody has given a context; else it is made of the execution's own id and place. */
  readonly contextGiven: boolean;
  /** The request to cancel it; null where there was none. */
  readonly canceled: Cancellation | null;
}

/** The newest one of a thread, open or terminated, of whose end the hooks have not been told. */
export interface EndingExecution extends ExecutionRecord {
  readonly terminated: boolean;
}

export interface CancelExecution extends CancelRequest {
  readonly threadId: string;
}

/** Where an execution stands among all: the latest first, at the same microsecond by their ids. A record of one says it. */
export type ExecutionPlace = Pick<ExecutionRecord, 'startedAt' | 'threadId' | 'id'>;

/** All that are given must hold. */
export interface ListExecutions {
  readonly threadId?: string;
  /** These three find executions for which somebody has given a context. */
  readonly runId?: string;
  readonly sessionId?: string;
  readonly traceId?: string;
  readonly agent?: string;
  readonly state?: RunRecordState;
  /** Those behind it: given the last one of a page, this is the next page, whatever has begun meanwhile. */
  readonly before?: ExecutionPlace;
  /** 50 unless given. */
  readonly limit?: number;
}

export interface ExecutionStore {
  /**
   * Keeps the request with the execution that runs, or the one that is named; the first one counts. From then on none of its steps begins,
   * and it ends as cancelled. Rejects with `ThreadNotFound`.
   */
  cancel(command: CancelExecution): Promise<CancelVerdict>;
  /** Without an id the newest. Null where there is none. */
  get(threadId: string, id?: string): Promise<ExecutionRecord | null>;
  /** Of any thread, by its own id, or by the one that its context gives the run; the latest where several have it. */
  find(id: string, threadId?: string): Promise<ExecutionRecord | null>;
  /** The one that had begun when the log's row `seq` was written. */
  at(threadId: string, seq: number): Promise<ExecutionRecord | null>;
  /** Null where nothing is open, and the last end was told or is none of a terminated thread. */
  findEnding(threadId: string): Promise<EndingExecution | null>;
  /** The hooks at its end have run, or there are none for it. */
  markEndTold(threadId: string, id: string): Promise<void>;
  /** The latest first. */
  list(options?: ListExecutions): Promise<readonly ExecutionRecord[]>;
}
