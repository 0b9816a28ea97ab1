/** Builds the report of a run from its thread's log: while the run lasts, and for as long as its thread is kept. */

import type { RunEvent } from '../projections/run/run-event.ts';
import { type ReportOptions, type RunReport, toRunReport } from '../projections/run/run-report.ts';
import type { ThreadStore } from '../store/store.ts';
import { followForm, requireRun } from './follow-run.ts';
import type { RunRecord } from './run-record.ts';

export interface GetRunReport extends ReportOptions {
  /** Selects one of several threads that have an execution with this id; the latest one unless given. */
  readonly threadId?: string;
}

/** Rejects with `ExecutionNotFound`. */
export async function readRunReport(
  store: ThreadStore,
  id: string,
  { threadId, ...options }: GetRunReport = {},
): Promise<RunReport> {
  const run = await requireRun(store, id, threadId);
  const events: RunEvent[] = [];
  for await (const { event } of followForm(store, run.threadId, { as: 'run', run: run.id, follow: false }))
    events.push(event);
  return toRunReport(events, { ...options, metadata: { ...toRunMetadata(run), ...options.metadata } });
}

function toRunMetadata({ state, reason }: RunRecord) {
  return { state, reason };
}
