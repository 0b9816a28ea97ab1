/**
 * RuntimeClient: starts threads, sends to them, reads them. Commands travel as Temporal signals and updates; reads come
 * from the store. A thread whose workflow was killed is revived by the next command; a terminated one refuses every
 * command with `ThreadTerminated`.
 */

import type { Client } from '@temporalio/client';
import type { ScheduledEffect } from '../core/author/thread-effect.ts';
import type { EnvType } from '../core/author/thread-env.ts';
import type { GetLogsOptions, Log } from '../core/author/thread-log.ts';
import type { GetMessagesOptions, MessagePage } from '../core/author/thread-message.ts';
import type { ThreadEvent } from '../core/event/thread-event.ts';
import type { BudgetLine } from '../core/governance/budget-line.ts';
import type { CancelRequest } from '../core/governance/cancellation.ts';
import type { Message } from '../core/message/message.ts';
import type { MessageFields } from '../core/message/message-fields.ts';
import type { MessageItem, ToolItem } from '../core/thread/item.ts';
import type { WaitAnswer } from '../core/wait/answer.ts';
import type { Reconciliation } from '../core/wait/reconciliation.ts';
import type { WaitVerdict } from '../core/wait/wait.ts';
import type { FollowAs, FormEvents, LogForm } from '../projections/log-form.ts';
import type { Projected } from '../projections/projection.ts';
import type { ActionRecord, ListActions } from '../store/action/action-record.ts';
import type { EnvEntry, EnvOwner, ThreadVariable } from '../store/env/env-record.ts';
import type { ExecutionRecord, ListExecutions } from '../store/execution/execution-record.ts';
import type { FamilyMember, VariableRequest } from '../store/family/family-record.ts';
import type { ForkedThread } from '../store/fork/fork-record.ts';
import type { SupersededTail } from '../store/message/message-record.ts';
import type { ListModelCalls, ModelCallRecord, ShownRequest } from '../store/request/request-record.ts';
import type { ThreadStore } from '../store/store.ts';
import type {
  CountThreads,
  ListThreads,
  ThreadChanges,
  ThreadCounts,
  ThreadRecord,
} from '../store/thread/thread-record.ts';
import type { ListWaits, Wait } from '../store/wait/wait-record.ts';
import type { ToolPayload } from '../workflows/messages.ts';
import { findAcceptedThread } from './accepted-thread.ts';
import type { AnswerOptions } from './answer-wait.ts';
import type { CalledTool, CallOptions, ToolToCall } from './call-tool.ts';
import { type ConnectOptions, type OpenConnection, openConnection } from './connect.ts';
import type { DeletedThreads } from './delete-thread.ts';
import type { AwaitChanges, FollowChanges } from './follow-changes.ts';
import type { FollowOptions } from './follow-events.ts';
import { HttpClient } from './http/http-client.ts';
import type { HttpConnectOptions } from './http/http-place.ts';
import type { OutgoingMessage } from './outgoing.ts';
import type { ProvidedVariables } from './provide-variables.ts';
import type { ForkThread, StartThread } from './start-options.ts';
import { StoredActions } from './stored-actions.ts';
import { type StoredGrants, storedGrants } from './stored-grants.ts';
import type { RequestManifest } from './stored-manifests.ts';
import { type StoredRuns, storedRuns } from './stored-runs.ts';
import { type StoredFiles, StoredThreads, type StoredValues } from './stored-threads.ts';
import { StoredVariables } from './stored-variables.ts';
import type { Supersede } from './supersede.ts';
import { TaskCommands, type Tasks } from './tasks.ts';
import { ThreadCommands } from './thread-commands.ts';
import type { ThreadsClient } from './threads-client.ts';
import type { IdleOptions } from './wait-for-idle.ts';

/**
 * Starts threads, sends to them, reads them (docs/client.md). Each command and read says what it rejects with.
 * @example
 * ```ts
 * const client = await RuntimeClient.connect();
 * const { threadId } = await client.startThread({ agent: 'assistant', messages: [{ content: 'hello' }] });
 * await client.waitForIdle(threadId);
 * const { messages } = await client.getMessages(threadId);
 * await client.close();
 * ```
 */
export class RuntimeClient implements ThreadsClient {
  readonly temporal: Client;
  readonly taskQueue: string;
  /** Executions of all threads (docs/runs.md). */
  readonly runs: StoredRuns;
  /** Tasks: started, read, aborted (docs/tasks.md). */
  readonly tasks: Tasks;
  /** Approvals that reach further than one call (docs/governance.md). */
  readonly grants: StoredGrants;
  /** What the server and other entry points that run on a client read and write; users have the methods. @internal */
  readonly store: ThreadStore;
  /** Reads of threads for the server, which shows not all that it reads. @internal */
  readonly threads: StoredThreads;
  readonly #commands: ThreadCommands;
  readonly #variables: StoredVariables;
  readonly #actions: StoredActions;
  readonly #close: () => Promise<void>;

  private constructor(connection: OpenConnection) {
    const { temporal, store, taskQueue, close } = connection;
    this.temporal = temporal;
    this.taskQueue = taskQueue;
    this.#commands = new ThreadCommands(connection);
    this.runs = storedRuns(store);
    this.tasks = new TaskCommands(connection);
    this.grants = storedGrants(store);
    this.threads = new StoredThreads(store, (threadId) => findAcceptedThread({ temporal, store }, threadId));
    this.#variables = new StoredVariables(store);
    this.#actions = new StoredActions(store);
    this.#close = close;
    this.store = store;
  }

  /** Connects over the HTTP API alone, as `everthread/client` does. Throws `ServerUnavailable`, `InvalidConfiguration`. */
  static connect(options: HttpConnectOptions): Promise<HttpClient>;
  /**
   * Connects to the Temporal server and the store. Throws `TemporalUnavailable` if no server answers, `InvalidConfiguration` for an invalid store.
   */
  static connect(options?: ConnectOptions): Promise<RuntimeClient>;
  static async connect(
    options: ConnectOptions | HttpConnectOptions = {},
  ): Promise<RuntimeClient | HttpClient> {
    if ('url' in options) return HttpClient.connect(options);
    return new RuntimeClient(await openConnection(options));
  }

  /**
   * Starts a thread. Throws `ExecutionRunning` if it exists and is working, `InvalidStart` if it exists and rests, or
   * if no thread can start with this input, `ThreadTerminated` if its id is used up; for its arguments `InvalidValue`
   * or `LimitExceeded` (1 MiB). The worker detects missing required variables: the thread is `failed` with `MissingVariable` until they are set and a message arrives.
   */
  startThread(thread: StartThread): Promise<{ threadId: string }> {
    return this.#commands.start(thread);
  }

  /**
   * Makes a new thread with the messages of another one up to a settled step. Repeating it under the same `threadId` changes nothing.
   * Throws `ThreadNotFound`, `InvalidValue` (no such step), `ThreadBusy` (none has settled yet), `InvalidStart` (the id is taken).
   */
  forkThread(threadId: string, options: ForkThread = {}): Promise<ForkedThread> {
    return this.#commands.fork(threadId, options);
  }

  /**
   * Queues a message; resolves once the server has stored it. Repeating an id changes nothing. Throws `ThreadNotFound`,
   * `ThreadTerminated`, `InvalidMessage`, `MessageTooLarge`; for metadata `InvalidValue` or `LimitExceeded`. With new
   * files it also throws the errors of writing a file, and `ThreadNotFound` until a worker has opened the thread.
   */
  queueMessage(threadId: string, message: OutgoingMessage): Promise<{ id: string }> {
    return this.#commands.queueMessage(threadId, message);
  }

  /** Stores an item of the project's own code as it is, and signals its id. Rejects like `queueMessage`. @internal */
  queueItem(threadId: string, item: MessageItem | ToolItem): Promise<void> {
    return this.#commands.queueItem(threadId, item);
  }

  /** Like `queueMessage`, but acknowledged by the thread itself: needs a worker. */
  sendMessage(threadId: string, message: OutgoingMessage): Promise<{ id: string }> {
    return this.#commands.sendMessage(threadId, message);
  }

  /**
   * Queues a tool call. The model sees its result, and answers it unless the call is `unanswered`. Repeating an id
   * changes nothing. Throws `ThreadNotFound`, `ThreadTerminated`, `InvalidMessage` (the id, the name), `InvalidValue`
   * naming the place in the arguments that JSON would change, `LimitExceeded` above 4 MiB. Whether the prompt offers
   * the tool is checked when the call runs: the result says so if it does not.
   */
  queueTool(threadId: string, tool: ToolPayload): Promise<{ id: string }> {
    return this.#commands.queueTool(threadId, tool);
  }

  /**
   * Calls a tool without a model: queues it `unanswered`, and resolves with its outcome once it has a result or the
   * thread waits for people. The call passes the gate of every call (policy, approvals, budgets); its `context`
   * restricts what it may do. Calling again with the same `id` returns the outcome of the same call. Throws as
   * `queueTool` does, `Timeout` after `timeoutMs` (default 60,000), and the code with which the thread refuses the call.
   */
  callTool(threadId: string, tool: ToolToCall, options: CallOptions = {}): Promise<CalledTool> {
    return this.#commands.callTool(threadId, tool, options);
  }

  /** Ends the current execution; queued items wait for the next message of a user or a relative. */
  stop(threadId: string, reason?: string): Promise<void> {
    return this.#commands.stop(threadId, reason);
  }

  /**
   * Resumes a thread at rest without another message: a stopped one with its queued items; if nothing is queued, in a
   * new execution from its history, as after a failure of its model. Does nothing to a thread that is working. Throws `ThreadNotFound`, `ThreadTerminated`.
   */
  continue(threadId: string): Promise<void> {
    return this.#commands.continue(threadId);
  }

  /**
   * Has a message of the user answered again, as it was or edited: what follows it leaves the history (docs/client.md). `seq` is the event behind which the answer begins.
   * Throws `ThreadBusy`, `OutcomeUnknown`, `MessageNotFound`, `ItemConflict`, `InvalidMessage`, `ThreadNotFound`, `ThreadTerminated`.
   */
  supersede(threadId: string, request: Supersede = {}): Promise<SupersededTail> {
    return this.#commands.supersede(threadId, request);
  }

  /**
   * Cancels an execution: the running one unless an id is given. Its model, tools, code and subagents are aborted, what
   * they had finished is kept, and it ends once with `canceled`; items that others have queued run as the next
   * execution. Returns the execution with the first request to cancel it, even if this is a later one. Throws
   * `ThreadNotFound`, `ExecutionNotFound`, `ExecutionNotCancelable` (it has ended), `InvalidValue`.
   */
  cancelExecution(threadId: string, request: CancelRequest = {}): Promise<ExecutionRecord> {
    return this.#commands.cancelExecution(threadId, request);
  }

  /**
   * Ends the thread permanently. Idempotent. Once resolved, every command is refused, also without a worker; for a
   * thread that no worker has opened yet, only by this client. If the server accepts no more signals for the run, its workflow is cancelled instead, which ends the thread as well.
   */
  terminate(threadId: string, reason?: string): Promise<void> {
    return this.#commands.terminate(threadId, reason);
  }

  /**
   * Notifies a thread that an effect was scheduled outside its activities and is due in `inMs` milliseconds, as computed by the store. Throws as `wake` does.
   */
  wakeForEffects(threadId: string, inMs: number): Promise<void> {
    return this.#commands.wakeForEffects(threadId, inMs);
  }

  /** Notifies a thread that an item was queued by other means. Throws `ThreadNotFound`, `ThreadTerminated`. */
  wake(threadId: string): Promise<void> {
    return this.#commands.wake(threadId);
  }

  /**
   * Resolves with the thread once it is at rest and has taken everything that this client sent to it, or once it waits
   * for a person: its status is then `waiting`, and `listWaits` says for what. If no worker can confirm that, the store
   * decides, unless a `stop` or `terminate` of this client is still pending. Throws `Timeout` after `timeoutMs`
   * (default 60,000), with the state of the thread, and the reason of `signal`.
   */
  async waitForIdle(threadId: string, options: IdleOptions = {}): Promise<ThreadRecord> {
    return this.threads.conceal(await this.#commands.waitForIdle(threadId, options));
  }

  /**
   * Gives a subagent of this thread all the variables that it waits for, and starts it. Its answer reaches the thread
   * as a message. Throws `VariableRequestNotFound`, `VariableRequestUsed` (a subagent that was created is started even
   * then), `MissingVariable`, `InvalidVariable`, `LimitExceeded`, `ThreadTerminated`.
   */
  provideVariables(
    threadId: string,
    requestId: string,
    values: ProvidedVariables,
  ): Promise<{ childThreadId: string }> {
    return this.#commands.provideVariables(threadId, requestId, values);
  }

  /**
   * Answers a wait for a person: `{ approved, reason?, scope?, by? }`, or `{ value, by? }`. The first answer counts;
   * the verdict is the outcome of this one. Repeating an equal answer is harmless: its verdict is `duplicate`. Needs no
   * worker; the thread continues once there is one. Throws `InvalidValue` for an invalid answer, or one of another kind than the wait asks for.
   */
  answerWait(id: string, answer: WaitAnswer, options: AnswerOptions = {}): Promise<WaitVerdict> {
    return this.#commands.answerWait(id, answer, options);
  }

  /** Lists what people are asked, oldest first: open waits unless a state is given; of all threads, or of one thread and, if it is a root, its family. Throws `InvalidValue`. */
  listWaits(options?: ListWaits): Promise<readonly Wait[]> {
    return this.threads.listWaits(options);
  }

  /** Throws `WaitNotFound`. */
  getWait(id: string): Promise<Wait> {
    return this.threads.getWait(id);
  }

  /** Also finds a thread that no worker has opened yet, with its start input. Throws `ThreadNotFound`. */
  getThread(threadId: string): Promise<ThreadRecord> {
    return this.threads.getThread(threadId);
  }

  /** An execution with its context; the newest unless an id is given. Throws `ThreadNotFound`, `ExecutionNotFound`. */
  getExecution(threadId: string, executionId?: string): Promise<ExecutionRecord> {
    return this.threads.getExecution(threadId, executionId);
  }

  /**
   * Executions with their contexts, newest first, with the filters of `runs.list`: a thread, an agent, a state, or the
   * id of a run, a session or a trace that was given in a context. Throws `InvalidValue` for invalid options.
   */
  listExecutions(options?: ListExecutions): Promise<readonly ExecutionRecord[]> {
    return this.threads.listExecutions(options);
  }

  /** The thread with all its descendants, each after its parent. Throws `ThreadNotFound`. */
  getFamily(threadId: string): Promise<readonly FamilyMember[]> {
    return this.threads.getFamily(threadId);
  }

  /**
   * Limits of the running execution, else of the newest one, and how far each is used up: its own first, those of its
   * root last. Throws `ThreadNotFound`.
   */
  getBudget(threadId: string): Promise<readonly BudgetLine[]> {
    return this.threads.getBudget(threadId);
  }

  /**
   * What each request to a model contained: tokens by section, as estimated before the request, and the total that its
   * provider counted. Oldest first; only of executions with a context, a policy or a budget. Throws `ThreadNotFound`.
   */
  listManifests(threadId: string): Promise<readonly RequestManifest[]> {
    return this.threads.listManifests(threadId);
  }

  /**
   * Threads that match all given options, the most recently changed first: 50 unless `limit` is given. `before` is the
   * last thread of the previous page. With `sort: 'created'` the order does not change while threads do. `cost`,
   * `tokens` and `waiting` list the threads that have a cost, have used tokens, or wait. Throws `InvalidValue`.
   */
  listThreads(options?: ListThreads): Promise<readonly ThreadRecord[]> {
    return this.threads.listThreads(options);
  }

  /** Counts threads by status, agent, user, organisation and tag; of the last three the 100 with the most. Throws `InvalidValue`. */
  countThreads(options?: CountThreads): Promise<ThreadCounts> {
    return this.threads.countThreads(options);
  }

  /**
   * Threads that have changed since the cursor, each as it is now, at least once; without a cursor none, but the cursor
   * of now. Returns at once if there are changes, else after `waitMs` (0). A deleted thread is `{ id, deleted: true }`,
   * unless only those of a user or an organisation are asked for. Throws `InvalidCursor`, `InvalidValue`.
   */
  listChanges(options?: AwaitChanges): Promise<ThreadChanges> {
    return this.threads.listChanges(options);
  }

  /** Follows the changes: the first page comes at once. Ends with the signal. Throws as `listChanges` does. */
  changes(options?: FollowChanges): AsyncIterable<ThreadChanges> {
    return this.threads.changes(options);
  }

  /**
   * Replaces all tags of a thread, by which `listThreads` finds it. Throws `InvalidValue`; `ThreadNotFound`, also until
   * a worker has opened the thread.
   */
  setTags(threadId: string, tags: readonly string[]): Promise<ThreadRecord> {
    return this.threads.setTags(threadId, tags);
  }

  /**
   * Ends a thread and deletes its data and the histories of its workflow, with all its descendants. Returns the ids of
   * the deleted threads, which are never used again, and the histories that the Temporal server refused to delete. If
   * it rejects, the same call again continues where it stopped. Throws `ThreadNotFound`, also until a worker has opened
   * the thread; `InvalidRequest` for a subagent.
   */
  deleteThread(threadId: string): Promise<DeletedThreads> {
    return this.#commands.deleteThread(threadId);
  }

  /** Stored messages, then pending ones (`metadata.queued`). Throws `InvalidValue`, like other reads. */
  getMessages(threadId: string, options?: GetMessagesOptions): Promise<MessagePage> {
    return this.threads.getMessages(threadId, options);
  }

  getMessage(threadId: string, id: string): Promise<Message | null> {
    return this.threads.getMessage(threadId, id);
  }

  /**
   * Changes a stored message; the next request to a model contains the change. Metadata is merged; null removes a key.
   * Throws `MessageNotFound`, also while the message is queued, `ThreadNotFound`, `ThreadTerminated`, `InvalidMessage`,
   * `MessageTooLarge`, and for metadata `InvalidValue` or `LimitExceeded`.
   */
  updateMessage(threadId: string, id: string, updates: MessageFields): Promise<Message> {
    return this.threads.updateMessage(threadId, id, updates);
  }

  /**
   * Removes a message with the results of its calls, and with files that nothing else names; a queued message leaves
   * the queue. False if there is no such message. Throws `MessageConflict` while a call of it has no result,
   * `ThreadNotFound`, `ThreadTerminated`.
   */
  deleteMessage(threadId: string, id: string): Promise<boolean> {
    return this.threads.deleteMessage(threadId, id);
  }

  /** Model calls with usage and cost, tool calls, executions, and the thread's life (runtime §12). */
  getLogs(threadId: string, options?: GetLogsOptions): Promise<Log[]> {
    return this.threads.getLogs(threadId, options);
  }

  /**
   * Requests to models, 100 unless `limit` is given, by step, attempt and number; those for a summary, which come first
   * in their step, have numbers above 1,000. `after`: the id of a call. Throws `ThreadNotFound`, `InvalidValue`.
   */
  listModelCalls(threadId: string, options?: ListModelCalls): Promise<readonly ModelCallRecord[]> {
    return this.threads.listModelCalls(threadId, options);
  }

  /**
   * What the provider received with a model call (`step.attempt.call`). Messages that have been changed or deleted since
   * are gaps. Throws `ThreadNotFound`, `ModelCallNotFound`, and `RequestRemoved` if the request is not kept.
   */
  getRequest(threadId: string, callId: string): Promise<ShownRequest> {
    return this.threads.getRequest(threadId, callId);
  }

  /**
   * The thread's events after a sequence number, oldest first, and then live unless `follow` is false. With `as` they
   * are events of that form (docs/runs.md), each with its cursor.
   * Throws `InvalidValue`, and `ExecutionNotFound` for an unknown run.
   */
  events<Form extends LogForm>(
    threadId: string,
    options: FollowAs<Form> & { readonly agentId?: string },
  ): AsyncIterable<Projected<FormEvents[Form]>>;
  events(threadId: string, options?: FollowOptions): AsyncIterable<ThreadEvent>;
  events(
    threadId: string,
    options: FollowOptions | (FollowAs<LogForm> & { readonly agentId?: string }) = {},
  ): AsyncIterable<ThreadEvent | Projected<FormEvents[LogForm]>> {
    return 'as' in options
      ? this.threads.formEvents(threadId, options)
      : this.threads.events(threadId, options);
  }

  /** Pending effects, of one name or of all, the next due first. A thread that does not exist has none. */
  listEffects(threadId: string, name?: string): Promise<ScheduledEffect[]> {
    return this.threads.listEffects(threadId, name);
  }

  /** Makes a pending effect due now. False if it is not pending. Throws `ThreadNotFound`, `ThreadTerminated`. */
  runEffect(threadId: string, id: string): Promise<boolean> {
    return this.#commands.runEffect(threadId, id);
  }

  /** True only if the effect was still pending and now never fires. Throws `ThreadNotFound`. */
  removeEffect(threadId: string, id: string): Promise<boolean> {
    return this.threads.removeEffect(threadId, id);
  }

  /** The files of a thread. A thread that does not exist has none. */
  files(threadId: string): StoredFiles {
    return this.threads.files(threadId);
  }

  /** The key-value store of a thread, for reading. */
  values(threadId: string): StoredValues {
    return this.threads.values(threadId);
  }

  /**
   * Sets a variable of a thread, a user (the `userId` of threads) or the instance; the thread need not exist yet. A new
   * one is a secret unless `type` is `text`. Throws `InvalidVariable`, `ThreadTerminated`, `InvalidConfiguration`.
   */
  setEnv(owner: EnvOwner, name: string, value: string, options: { type?: EnvType } = {}): Promise<void> {
    return this.#variables.setEnv(owner, name, value, options);
  }

  /** Variables of this owner by name, without the values of secrets. */
  listEnv(owner: EnvOwner): Promise<readonly EnvEntry[]> {
    return this.#variables.listEnv(owner);
  }

  /** Variables that a thread may read: names, types and sources, never values; by name. Throws `ThreadNotFound`. */
  listThreadEnv(threadId: string): Promise<readonly ThreadVariable[]> {
    return this.#variables.listThreadEnv(threadId);
  }

  /** False if the variable did not exist. */
  unsetEnv(owner: EnvOwner, name: string): Promise<boolean> {
    return this.#variables.unsetEnv(owner, name);
  }

  /** What a subagent needs to start; `childId` is its thread once created. Throws `VariableRequestNotFound`. */
  getVariableRequest(requestId: string): Promise<VariableRequest> {
    return this.#variables.getVariableRequest(requestId);
  }

  /** The pending requests of a thread's subagents, oldest first. Throws `ThreadNotFound`. */
  listVariableRequests(threadId: string): Promise<readonly VariableRequest[]> {
    return this.#variables.listVariableRequests(threadId);
  }

  /** Calls that policies have judged, newest first: 100 unless `limit` is given. Throws `InvalidValue`. */
  listActions(options?: ListActions): Promise<readonly ActionRecord[]> {
    return this.#actions.listActions(options);
  }

  /**
   * Records the outcome of an uncertain action; nothing is executed again. A thread that waits for it
   * (`onUncertain: 'wait'`) continues with it; any other keeps the result that its model has read. Throws
   * `InvalidValue`, `ActionNotFound`, and `ActionNotUncertain` if the outcome is known or recorded.
   */
  async reconcileAction(id: string, reconciliation: Reconciliation): Promise<ActionRecord> {
    const { action, wait } = await this.#actions.reconcile(id, reconciliation);
    // Gives the stored answer again: a duplicate notifies the waiting thread.
    if (wait?.answer) await this.#commands.answerWait(wait.id, wait.answer, {});
    return action;
  }

  async close(): Promise<void> {
    await this.#close();
  }
}
