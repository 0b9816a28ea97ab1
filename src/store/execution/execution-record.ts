/**
 * Executions: what each run of a thread's loop ran with, and how it ended. Their rows are written by the commands that
 * begin and end them, and are also the index of runs. Run reports are read from the log.
 */
import type { Cancellation, CancelRequest } from '../../core/governance/cancellation.ts';
import type { RunContext } from '../../core/governance/run-context.ts';

/** State of an execution, in the words of A2A tasks: `input-required` while its thread waits for a person. */
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
  /** Null while it runs. */
  readonly endedAt: number | null;
  /** Why it ended; null while it runs. */
  readonly stopReason: string | null;
  /** Number of the event that begins it; null for an execution older than this field. */
  readonly firstSeq: number | null;
  /** Run context, as in `state.execution.context`. */
  readonly context: RunContext;
  /** True if a context was given; else it is made of the execution's own id and place. */
  readonly contextGiven: boolean;
  /** The request to cancel it; null if there was none. */
  readonly canceled: Cancellation | null;
}

/** The newest execution of a thread, open or ended by termination, whose end hooks have not run. */
export interface EndingExecution extends ExecutionRecord {
  readonly terminated: boolean;
}

export interface CancelExecution extends CancelRequest {
  readonly threadId: string;
}

/**
 * Position of an execution in lists: newest first, in the same microsecond by their ids. An `ExecutionRecord` is one.
 */
export type ExecutionPlace = Pick<ExecutionRecord, 'startedAt' | 'threadId' | 'id'>;

/** All given conditions must hold. */
export interface ListExecutions {
  readonly threadId?: string;
  /** These three find executions for which a context was given. */
  readonly runId?: string;
  readonly sessionId?: string;
  readonly traceId?: string;
  readonly agent?: string;
  readonly state?: RunRecordState;
  /** The last execution of the previous page: the list continues after it, whatever has begun since then. */
  readonly before?: ExecutionPlace;
  /** Default 50. */
  readonly limit?: number;
}
