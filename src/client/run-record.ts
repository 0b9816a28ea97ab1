/** An execution as an entry of the index of runs: its labels, and how it ended. */
import type { ExecutionRecord } from '../store/execution/execution-record.ts';

export interface RunRecord
  extends Pick<
    ExecutionRecord,
    'threadId' | 'id' | 'agent' | 'state' | 'startedAt' | 'endedAt' | 'firstSeq'
  > {
  /**
   * Run id of its context, else the execution's id. `sessionId` and `traceId` are those of its context; null if no
   * context was given.
   */
  readonly runId: string;
  readonly sessionId: string | null;
  readonly traceId: string | null;
  /** Why it ended; null while it runs. */
  readonly reason: string | null;
}

export function toRunRecord({
  context,
  contextGiven,
  canceled: _,
  stopReason: reason,
  ...record
}: ExecutionRecord): RunRecord {
  const { runId, sessionId, traceId } = context;
  const labels = contextGiven ? { sessionId, traceId } : { sessionId: null, traceId: null };
  return { ...record, runId, ...labels, reason };
}
