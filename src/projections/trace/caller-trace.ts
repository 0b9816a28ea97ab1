/**
 * Completes what is known of an execution: whether it has parts, and in which trace its caller is. A call is in the part
 * that is open when it begins, so the log of a caller that may have had several is projected up to there.
 */
import type { TracedCaller, TracedExecution, TracedRow } from '../../core/event/traced-row.ts';
import { projectSpans } from './trace-projection.ts';
import type { TraceState } from './trace-state.ts';

export interface CallerLogs {
  /** False if an execution is one trace, however long it takes. */
  readonly parts: boolean;
  /** Rows after `seq`. */
  read(
    threadId: string,
    after: { readonly seq: number; readonly state: null },
  ): Promise<{ readonly rows: readonly TracedRow[]; readonly seq: number; readonly more: boolean }>;
}

export async function completeRow(row: TracedRow, logs: CallerLogs): Promise<TracedRow> {
  return row.execution ? { ...row, execution: await completeExecution(row.execution, logs) } : row;
}

export async function completeExecution(
  execution: TracedExecution,
  logs: CallerLogs,
): Promise<TracedExecution> {
  const { calledBy } = execution;
  if (!logs.parts || !calledBy?.isLong) return { ...execution, parts: logs.parts };
  const trace = await findTrace(calledBy, logs);
  return { ...execution, parts: true, calledBy: trace === undefined ? calledBy : { ...calledBy, trace } };
}

/** Undefined if the call is not in the log. */
async function findTrace(
  { threadId, firstSeq, step, callId }: TracedCaller,
  logs: CallerLogs,
): Promise<string | undefined> {
  let state: TraceState = { threadId, execution: null };
  let seq = firstSeq - 1;
  for (let more = true; more; ) {
    const page = await logs.read(threadId, { seq, state: null });
    for (const row of page.rows) {
      [state] = projectSpans(state, await completeRow(row, logs), { factoryOf: () => undefined });
      const { event } = row;
      if (event.type === 'tool.started' && event.step === step && event.data.callId === callId)
        return state.execution?.place.trace;
    }
    ({ seq, more } = page);
  }
  return undefined;
}
