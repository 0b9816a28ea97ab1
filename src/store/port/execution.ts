/** Executions: what each of a thread's runs of the loop ran with, and how it ended. */
import type { Cancellation, CancelRequest, CancelVerdict } from '../../core/governance/cancellation.ts';
import type { RunContext } from '../../core/governance/run-context.ts';
import type { ListRuns } from './run-index.ts';

export interface ExecutionRecord {
  readonly id: string;
  readonly threadId: string;
  /** Microseconds since 1970. */
  readonly startedAt: number;
  /** Null while it lasts. */
  readonly endedAt: number | null;
  readonly stopReason: string | null;
  /** As `state.execution.context` has it. */
  readonly context: RunContext;
  /** Somebody has given a context; else it is made of the execution's own id and place. */
  readonly contextGiven: boolean;
  /** The request to cancel it; null where there was none. */
  readonly canceled: Cancellation | null;
}

export interface CancelExecution extends CancelRequest {
  readonly threadId: string;
}

/** As the index of runs is asked: both are readings of the same rows. */
export type ListExecutions = ListRuns;

export interface ExecutionStore {
  /**
   * Keeps the request with the execution that runs, or the one that is named; the first one counts. From then on none of its steps begins,
   * and it ends as cancelled. Rejects with `ThreadNotFound`.
   */
  cancel(command: CancelExecution): Promise<CancelVerdict>;
  /** Without an id the newest. Null where there is none. */
  get(threadId: string, id?: string): Promise<ExecutionRecord | null>;
  /** The newest first. `runId`, `sessionId` and `traceId` find those alone for which somebody has given a context. */
  list(options?: ListExecutions): Promise<readonly ExecutionRecord[]>;
}
