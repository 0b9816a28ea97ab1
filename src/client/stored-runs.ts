/** Reads runs of all threads: the index, their events, their reports. Needs only the store: no server, no worker. */
import { checkRunPage } from '../core/author/read-options.ts';
import { checkFollowForm, type FollowRunOptions } from '../projections/log-form.ts';
import type { Projected } from '../projections/projection.ts';
import type { RunEvent } from '../projections/run/run-event.ts';
import type { RunReport } from '../projections/run/run-report.ts';
import type { ListExecutions } from '../store/execution/execution-record.ts';
import type { ThreadStore } from '../store/store.ts';
import { type AttachOptions, type EventSink, feedSink, type SinkEnd } from './event-sink.ts';
import { followForm, requireRun } from './follow-run.ts';
import { type RunRecord, toRunRecord } from './run-record.ts';
import { type GetRunReport, readRunReport } from './run-report.ts';

export interface AttachSink extends Omit<FollowRunOptions, 'as'>, AttachOptions {}

export interface StoredRuns {
  /** Executions of all threads, or of one: the latest first, 50 unless `limit` is given. Throws `InvalidValue`. */
  list(options?: ListExecutions): Promise<readonly RunRecord[]>;
  /** Throws `ExecutionNotFound`. */
  get(executionId: string, threadId?: string): Promise<RunRecord>;
  /**
   * What happened in an execution, grouped by kind; also while it runs. Nothing is redacted unless `redaction` is
   * given. Throws `ExecutionNotFound`.
   */
  report(executionId: string, options?: GetRunReport): Promise<RunReport>;
  /** Does the same as `client.events(threadId, { as: 'run' })`. */
  events(threadId: string, options: FollowRunOptions): AsyncIterable<Projected<RunEvent>>;
  /**
   * Feeds a sink the events of a thread, and resolves once the sink is detached: after the last event of `run`, at the
   * current end of the log if `follow` is false, when `signal` aborts, or if the sink fails or is too slow. No run
   * waits for a sink.
   */
  attach(threadId: string, sink: EventSink, options?: AttachSink): Promise<SinkEnd>;
}

export function storedRuns(store: ThreadStore): StoredRuns {
  return {
    list: async (options) => (await store.executions.list(checkRunPage(options))).map(toRunRecord),
    get: (executionId, threadId) => requireRun(store, executionId, threadId),
    report: (executionId, options) => readRunReport(store, executionId, options),
    events: (threadId, options) => followForm(store, threadId, checkFollowForm({ ...options, as: 'run' })),
    attach: async (threadId, sink, { withinMs, ...options } = {}) =>
      feedSink(followForm(store, threadId, checkFollowForm({ ...options, as: 'run' })), sink, { withinMs }),
  };
}
