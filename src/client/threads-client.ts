/**
 * The interface of every client: of the one that reaches the Temporal server and the store (runtime-client.ts), and of
 * the one that reaches only the HTTP API (http/http-client.ts). Code that is written for it runs with either. Those
 * files document what each method rejects with.
 */

import type { ScheduledEffect } from '../core/author/thread-effect.ts';
import type { GetLogsOptions, Log } from '../core/author/thread-log.ts';
import type { GetMessagesOptions, MessagePage } from '../core/author/thread-message.ts';
import type { ThreadEvent } from '../core/event/thread-event.ts';
import type { BudgetLine } from '../core/governance/budget-line.ts';
import type { CancelRequest } from '../core/governance/cancellation.ts';
import type { Message } from '../core/message/message.ts';
import type { WaitAnswer } from '../core/wait/answer.ts';
import type { WaitVerdict } from '../core/wait/wait.ts';
import type { FollowAs, FollowRunOptions, FormEvents, LogForm } from '../projections/log-form.ts';
import type { Projected } from '../projections/projection.ts';
import type { RunEvent } from '../projections/run/run-event.ts';
import type { RunReport } from '../projections/run/run-report.ts';
import type { ThreadVariable } from '../store/env/env-record.ts';
import type { ExecutionRecord, ListExecutions } from '../store/execution/execution-record.ts';
import type { FamilyMember } from '../store/family/family-record.ts';
import type { ForkedThread } from '../store/fork/fork-record.ts';
import type { SupersededTail } from '../store/message/message-record.ts';
import type { ListModelCalls, ModelCallRecord, ShownRequest } from '../store/request/request-record.ts';
import type {
  CountThreads,
  ListThreads,
  ThreadChanges,
  ThreadCounts,
  ThreadRecord,
} from '../store/thread/thread-record.ts';
import type { ListWaits, Wait } from '../store/wait/wait-record.ts';
import type { AnswerOptions } from './answer-wait.ts';
import type { EventSink, SinkEnd } from './event-sink.ts';
import type { AwaitChanges, FollowChanges } from './follow-changes.ts';
import type { FollowOptions } from './follow-events.ts';
import type { OutgoingMessage } from './outgoing.ts';
import type { RunRecord } from './run-record.ts';
import type { ForkThread, StartThread } from './start-options.ts';
import type { AttachSink } from './stored-runs.ts';
import type { StoredFiles, StoredValues } from './stored-threads.ts';
import type { Supersede } from './supersede.ts';
import type { Tasks } from './tasks.ts';
import type { IdleOptions } from './wait-for-idle.ts';

/** Executions of all threads (docs/runs.md). */
export interface ThreadsRuns {
  /** The latest first, 50 unless `limit` is given. */
  list(options?: ListExecutions): Promise<readonly RunRecord[]>;
  /** Throws `ExecutionNotFound`. */
  get(executionId: string, threadId?: string): Promise<RunRecord>;
  /** Throws `ExecutionNotFound`. */
  report(executionId: string, options?: { readonly threadId?: string }): Promise<RunReport>;
  events(threadId: string, options: FollowRunOptions): AsyncIterable<Projected<RunEvent>>;
  attach(threadId: string, sink: EventSink, options?: AttachSink): Promise<SinkEnd>;
}

/** Threads, wherever they run (docs/client.md). */
export interface ThreadsClient {
  readonly runs: ThreadsRuns;
  /** Tasks (docs/tasks.md). */
  readonly tasks: Tasks;
  startThread(thread: StartThread): Promise<{ threadId: string }>;
  forkThread(threadId: string, options?: ForkThread): Promise<ForkedThread>;
  queueMessage(threadId: string, message: OutgoingMessage): Promise<{ id: string }>;
  stop(threadId: string, reason?: string): Promise<void>;
  continue(threadId: string): Promise<void>;
  supersede(threadId: string, request?: Supersede): Promise<SupersededTail>;
  cancelExecution(threadId: string, request?: CancelRequest): Promise<ExecutionRecord>;
  terminate(threadId: string, reason?: string): Promise<void>;
  waitForIdle(threadId: string, options?: IdleOptions): Promise<ThreadRecord>;
  answerWait(id: string, answer: WaitAnswer, options?: AnswerOptions): Promise<WaitVerdict>;
  listWaits(options?: ListWaits): Promise<readonly Wait[]>;
  getWait(id: string): Promise<Wait>;
  getThread(threadId: string): Promise<ThreadRecord>;
  getFamily(threadId: string): Promise<readonly FamilyMember[]>;
  getBudget(threadId: string): Promise<readonly BudgetLine[]>;
  listThreads(options?: ListThreads): Promise<readonly ThreadRecord[]>;
  countThreads(options?: CountThreads): Promise<ThreadCounts>;
  listChanges(options?: AwaitChanges): Promise<ThreadChanges>;
  changes(options?: FollowChanges): AsyncIterable<ThreadChanges>;
  listThreadEnv(threadId: string): Promise<readonly ThreadVariable[]>;
  getMessages(threadId: string, options?: GetMessagesOptions): Promise<MessagePage>;
  getMessage(threadId: string, id: string): Promise<Message | null>;
  getLogs(threadId: string, options?: GetLogsOptions): Promise<Log[]>;
  listModelCalls(threadId: string, options?: ListModelCalls): Promise<readonly ModelCallRecord[]>;
  getRequest(threadId: string, callId: string): Promise<ShownRequest>;
  events<Form extends LogForm>(
    threadId: string,
    options: FollowAs<Form>,
  ): AsyncIterable<Projected<FormEvents[Form]>>;
  events(threadId: string, options?: FollowOptions): AsyncIterable<ThreadEvent>;
  listEffects(threadId: string, name?: string): Promise<ScheduledEffect[]>;
  removeEffect(threadId: string, id: string): Promise<boolean>;
  files(threadId: string): Pick<StoredFiles, 'readdir' | 'read' | 'write'>;
  values(threadId: string): StoredValues;
  close(): Promise<void>;
}
