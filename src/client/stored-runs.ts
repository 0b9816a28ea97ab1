/** Runs of all threads: the index, and what a run has told. Reads of the store; no server, no worker. */
import { checkFollowRun, checkRunPage } from '../core/author/read-options.ts';
import type { Projected } from '../projections/projection.ts';
import type { RunEvent } from '../projections/run/run-event.ts';
import type { RunReport } from '../projections/run/run-report.ts';
import type { ListExecutions, ThreadStore } from '../store/port/thread-store.ts';
import { type AttachOptions, type EventSink, feedSink, type SinkEnd } from './event-sink.ts';
import { type FollowRunOptions, followRun, requireRun } from './follow-run.ts';
import { type RunRecord, toRunRecord } from './run-record.ts';
import { type GetRunReport, readRunReport } from './run-report.ts';

export interface AttachSink extends Omit<FollowRunOptions, 'as'>, AttachOptions {}

export interface StoredRuns {
  /** Executions of all threads, or of one: the latest first, 50 unless `limit` says otherwise. Throws `InvalidValue`. */
  list(options?: ListExecutions): Promise<readonly RunRecord[]>;
  /** Throws `ExecutionNotFound`. */
  get(executionId: string, threadId?: string): Promise<RunRecord>;
  /**
   * What happened in an execution, sorted by what it is; also while it lasts. Nothing is taken out unless `redaction` says what. Throws
   * `ExecutionNotFound`.
   */
  report(executionId: string, options?: GetRunReport): Promise<RunReport>;
  /** As `client.events(threadId, { as: 'run' })`. */
  events(threadId: string, options: FollowRunOptions): AsyncIterable<Projected<RunEvent>>;
  /**
   * Gives a sink the events of a thread, and resolves once it is detached: with the last event of `run`, at the present end where
   * `follow` is false, with `signal`, or for what the sink does. Nothing of a run waits for it.
   */
  attach(threadId: string, sink: EventSink, options?: AttachSink): Promise<SinkEnd>;
}

export function storedRuns(store: ThreadStore): StoredRuns {
  return {
    list: async (options) => (await store.executions.list(checkRunPage(options))).map(toRunRecord),
    get: (executionId, threadId) => requireRun(store, executionId, threadId),
    report: (executionId, options) => readRunReport(store, executionId, options),
    events: (threadId, options) => followRun(store, threadId, checkFollowRun(options)),
    attach: async (threadId, sink, { withinMs, ...options } = {}) =>
      feedSink(followRun(store, threadId, checkFollowRun(options)), sink, { withinMs }),
  };
}
