/**
 * RuntimeClient: starts threads, sends to them, reads them.
 * Commands travel as Temporal signals and updates; reads come from the store. A thread whose workflow was killed
 * is revived by the next command; a terminated one refuses every command with `ThreadTerminated`.
 */

import type { Client } from '@temporalio/client';
import type { ScheduledEffect } from '../core/author/effect.ts';
import type { EnvType } from '../core/author/thread-env.ts';
import type { GetLogsOptions, Log } from '../core/author/thread-log.ts';
import type { GetMessagesOptions, MessagePage } from '../core/author/thread-message.ts';
import type { ThreadEvent } from '../core/event/thread-event.ts';
import type { BudgetLine } from '../core/governance/budget.ts';
import type { CancelRequest } from '../core/governance/cancellation.ts';
import type { Message } from '../core/message/message.ts';
import type { MessageFields } from '../core/message/message-fields.ts';
import type { WaitAnswer } from '../core/wait/answer.ts';
import type { Reconciliation } from '../core/wait/reconciliation.ts';
import type { WaitVerdict } from '../core/wait/wait.ts';
import type { RuntimeEvent } from '../projections/agenticx/agenticx-event.ts';
import type { Projected } from '../projections/projection.ts';
import type { RunEvent } from '../projections/run/run-event.ts';
import type { TangleEvent } from '../projections/tangle/tangle-event.ts';
import type { ActionRecord, ListActions } from '../store/port/action.ts';
import type { EnvEntry, EnvOwner } from '../store/port/env.ts';
import type {
  ExecutionRecord,
  FamilyMember,
  ListExecutions,
  ListThreads,
  ListWaits,
  ThreadRecord,
  VariableRequest,
  Wait,
} from '../store/port/thread-store.ts';
import type { ToolPayload } from '../workflows/messages.ts';
import { findAccepted } from './accepted-thread.ts';
import type { AnswerOptions } from './answer-wait.ts';
import type { CalledTool, CallOptions, ToolToCall } from './call-tool.ts';
import { keepStore } from './client-store.ts';
import { type ConnectOptions, type OpenConnection, openConnection } from './connect.ts';
import type { FollowOptions } from './follow-events.ts';
import type { FollowRunOptions, FollowTangleOptions, FollowTurnsOptions } from './follow-run.ts';
import { HttpClient } from './http/http-client.ts';
import type { HttpConnectOptions } from './http/http-place.ts';
import type { OutgoingMessage } from './outgoing.ts';
import type { ProvidedVariables } from './provide-variables.ts';
import type { StartThread } from './start-options.ts';
import { StoredActions } from './stored-actions.ts';
import type { RequestManifest } from './stored-manifests.ts';
import { type StoredRuns, storedRuns } from './stored-runs.ts';
import { type StoredFiles, StoredThreads, type StoredValues } from './stored-threads.ts';
import { StoredVariables } from './stored-variables.ts';
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
  readonly #commands: ThreadCommands;
  readonly #threads: StoredThreads;
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
    this.#threads = new StoredThreads(store, (threadId) => findAccepted(temporal, threadId));
    this.#variables = new StoredVariables(store);
    this.#actions = new StoredActions(store);
    this.#close = close;
    keepStore(this, store);
  }

  /** Over the HTTP API alone: what `everthread/client` has for where there is no Node. Throws `ServerUnavailable`, `InvalidConfiguration`. */
  static connect(options: HttpConnectOptions): Promise<HttpClient>;
  /** Throws `TemporalUnavailable` when no server answers. */
  static connect(options?: ConnectOptions): Promise<RuntimeClient>;
  static async connect(
    options: ConnectOptions | HttpConnectOptions = {},
  ): Promise<RuntimeClient | HttpClient> {
    if ('url' in options) return HttpClient.connect(options);
    return new RuntimeClient(await openConnection(options));
  }

  /**
   * Starts a thread. Throws `ExecutionRunning` when it works already, `InvalidStart` when it exists and rests, or for what no thread can start with, `InvalidValue` or `LimitExceeded`
   * (1 MiB) for its arguments, `ThreadTerminated` when its id is used up. The worker detects missing
   * required variables: the thread is `failed` with `MissingVariable` until they are set and a message arrives.
   */
  startThread(thread: StartThread): Promise<{ threadId: string }> {
    return this.#commands.start(thread);
  }

  /**
   * Queues a message; resolves once the server has stored it. Repeating an id changes nothing.
   * Throws `ThreadNotFound`, `ThreadTerminated`, `InvalidMessage`, `MessageTooLarge`, for metadata `InvalidValue` or `LimitExceeded`; with new files also the errors of writing a
   * file, and `ThreadNotFound` until a worker has opened the thread.
   */
  queueMessage(threadId: string, message: OutgoingMessage): Promise<{ id: string }> {
    return this.#commands.queueMessage(threadId, message);
  }

  /** Like queueMessage, but answered by the thread itself: needs a worker. */
  sendMessage(threadId: string, message: OutgoingMessage): Promise<{ id: string }> {
    return this.#commands.sendMessage(threadId, message);
  }

  /**
   * Queues a tool call; the model sees its result, and answers it unless the call is `unanswered`. Repeating an id changes nothing. Throws `ThreadNotFound`, `ThreadTerminated`,
   * `InvalidMessage` (the id, the name), `InvalidValue` with the place of what JSON would change in the arguments, `LimitExceeded`
   * above 4 MiB. Whether the prompt offers the tool is seen when it runs: the result says so.
   */
  queueTool(threadId: string, tool: ToolPayload): Promise<{ id: string }> {
    return this.#commands.queueTool(threadId, tool);
  }

  /**
   * Calls a tool without a model: queues it `unanswered`, and resolves with what came of it, once it has a result or the thread waits for people.
   * It passes the gate of every call; its `context` narrows what it may do. The same `id` again asks after the same call. Throws as
   * `queueTool`, `Timeout` after `timeoutMs` (default 60,000), and the code with which the thread has refused it.
   */
  callTool(threadId: string, tool: ToolToCall, options: CallOptions = {}): Promise<CalledTool> {
    return this.#commands.callTool(threadId, tool, options);
  }

  /** Ends the current execution; queued items wait for the next user message. */
  stop(threadId: string, reason?: string): Promise<void> {
    return this.#commands.stop(threadId, reason);
  }

  /**
   * A thread at rest goes on without another message: one that was stopped with what is in line; where nothing is, in a new execution from its history,
   * as after a failure of its model. Does nothing to a thread that works. Throws `ThreadNotFound`, `ThreadTerminated`.
   */
  continue(threadId: string): Promise<void> {
    return this.#commands.continue(threadId);
  }

  /**
   * Cancels an execution, the one that runs where no id is given. Its model, tools, code and subagents are aborted, what they had finished is
   * kept, and it ends once with `canceled`; what others have queued goes on as the next execution. Answers the execution with the first
   * request, also where this is a later one. Throws `ThreadNotFound`, `ExecutionNotFound`, `ExecutionNotCancelable` (it has ended), `InvalidValue`.
   */
  cancelExecution(threadId: string, request: CancelRequest = {}): Promise<ExecutionRecord> {
    return this.#commands.cancelExecution(threadId, request);
  }

  /**
   * Ends the thread for ever. Idempotent. Once resolved, every command is refused, also without a worker; for a thread that no worker has opened
   * yet, only by this client. Where the server accepts no more signals for the run, its workflow is cancelled, which ends the thread as well.
   */
  terminate(threadId: string, reason?: string): Promise<void> {
    return this.#commands.terminate(threadId, reason);
  }

  /** Tells a thread that an effect was scheduled outside its activities, due in so many milliseconds, as the store says. Throws as `wake` does. */
  wakeForEffects(threadId: string, inMs: number): Promise<void> {
    return this.#commands.wakeForEffects(threadId, inMs);
  }

  /** Tells a thread that an item was queued by other means. Throws `ThreadNotFound`, `ThreadTerminated`. */
  wake(threadId: string): Promise<void> {
    return this.#commands.wake(threadId);
  }

  /**
   * Resolves with the thread once it is at rest and everything that this client sent to it has been taken, or once it waits for a
   * person: its status is `waiting` then, and `listWaits` says for what. Where no worker can
   * confirm that, the store decides, but not over a `stop` or `terminate` of this client. Throws `Timeout` after `timeoutMs`
   * (default 60,000), with the thread's state, and the reason of `signal`.
   */
  waitForIdle(threadId: string, options: IdleOptions = {}): Promise<ThreadRecord> {
    return this.#commands.waitForIdle(threadId, options);
  }

  /**
   * Gives a subagent of this thread all the variables that it waits for, and starts it. Its answer reaches the
   * thread as a message. Throws `VariableRequestNotFound`, `VariableRequestUsed` (and starts it all the same), `MissingVariable`,
   * `InvalidVariable`, `LimitExceeded`, `ThreadTerminated`.
   */
  provideVariables(
    threadId: string,
    requestId: string,
    values: ProvidedVariables,
  ): Promise<{ childThreadId: string }> {
    return this.#commands.provideVariables(threadId, requestId, values);
  }

  /**
   * Answers what is asked of a person: `{ approved, reason?, scope?, by? }`, or `{ value, by? }`. The first answer counts: the verdict says
   * what became of this one, and an equal one again is `duplicate` and harmless. Needs no worker; the thread goes on once there is one.
   * Throws `InvalidValue` for an answer that is none, or of another kind than is asked for.
   */
  answerWait(id: string, answer: WaitAnswer, options: AnswerOptions = {}): Promise<WaitVerdict> {
    return this.#commands.answerWait(id, answer, options);
  }

  /** What is asked of people, oldest first: open waits, unless a state is given; of all threads, or of a thread with its family. Throws `InvalidValue`. */
  listWaits(options?: ListWaits): Promise<readonly Wait[]> {
    return this.#threads.listWaits(options);
  }

  /** Throws `WaitNotFound`. */
  getWait(id: string): Promise<Wait> {
    return this.#threads.getWait(id);
  }

  /** Also of a thread that no worker has opened yet: its acceptance tells what it was started with. Throws `ThreadNotFound`. */
  getThread(threadId: string): Promise<ThreadRecord> {
    return this.#threads.getThread(threadId);
  }

  /** An execution with the context that it ran with; without an id the newest. Throws `ThreadNotFound`, `ExecutionNotFound`. */
  getExecution(threadId: string, executionId?: string): Promise<ExecutionRecord> {
    return this.#threads.getExecution(threadId, executionId);
  }

  /**
   * Executions with their contexts, the newest first, as `runs.list` finds them: of a thread, an agent, in a state, or those of a run, a session
   * or a trace that somebody has named in a context. Throws `InvalidValue` for options of a wrong shape.
   */
  listExecutions(options?: ListExecutions): Promise<readonly ExecutionRecord[]> {
    return this.#threads.listExecutions(options);
  }

  /** The thread with all that descend from it, each behind its parent. Throws `ThreadNotFound`. */
  getFamily(threadId: string): Promise<readonly FamilyMember[]> {
    return this.#threads.getFamily(threadId);
  }

  /** Limits of the execution under way, else of the newest, and how far each is used up: its own first, its root's last. Throws `ThreadNotFound`. */
  getBudget(threadId: string): Promise<readonly BudgetLine[]> {
    return this.#threads.getBudget(threadId);
  }

  /**
   * What each request to a model was made of: tokens by section as they were estimated before it, and as its provider has counted them. The
   * oldest first; of executions in which a context, a policy or a budget was in use. Throws `ThreadNotFound`.
   */
  listManifests(threadId: string): Promise<readonly RequestManifest[]> {
    return this.#threads.listManifests(threadId);
  }

  /**
   * Those that fit all that is given, the one that changed last first: 50 unless `limit` says otherwise. `before` is the last thread of the page
   * before; `order: 'created'` is a list that stands still while threads change. Throws `InvalidValue`.
   */
  listThreads(options?: ListThreads): Promise<readonly ThreadRecord[]> {
    return this.#threads.listThreads(options);
  }

  /** Sets all tags of a thread, by which `listThreads` finds it. Throws `InvalidValue`, `ThreadNotFound`, also until a worker has opened it. */
  setTags(threadId: string, tags: readonly string[]): Promise<ThreadRecord> {
    return this.#threads.setTags(threadId, tags);
  }

  /**
   * Ends a thread and deletes what it has, with all that descend from it. Answers the ids of those that are gone, which are never used again. Once it
   * rejects, the same call goes on where it was. Throws `ThreadNotFound`, also until a worker has opened it; `InvalidRequest` for a subagent.
   */
  deleteThread(threadId: string): Promise<readonly string[]> {
    return this.#commands.deleteThread(threadId);
  }

  /** Stored messages, then pending ones (`metadata.queued`). Throws `InvalidValue` for options of a wrong shape, as other reads do. */
  getMessages(threadId: string, options?: GetMessagesOptions): Promise<MessagePage> {
    return this.#threads.getMessages(threadId, options);
  }

  getMessage(threadId: string, id: string): Promise<Message | null> {
    return this.#threads.getMessage(threadId, id);
  }

  /**
   * Changes a stored message: the next request to a model has it so. Metadata is merged; null takes a key out. Throws `MessageNotFound`, also while it
   * waits in line, `ThreadNotFound`, `ThreadTerminated`, `InvalidMessage`, `MessageTooLarge`, and for metadata `InvalidValue` or `LimitExceeded`.
   */
  updateMessage(threadId: string, id: string, updates: MessageFields): Promise<Message> {
    return this.#threads.updateMessage(threadId, id, updates);
  }

  /**
   * Removes a message with the results of its calls and files that nothing else names; one that waits in line is never taken. False where there is
   * none. Throws `MessageConflict` while a call of it has no result, `ThreadNotFound`, `ThreadTerminated`.
   */
  deleteMessage(threadId: string, id: string): Promise<boolean> {
    return this.#threads.deleteMessage(threadId, id);
  }

  /** Model calls with usage and cost, tool calls, executions, and the thread's life (runtime §12). */
  getLogs(threadId: string, options?: GetLogsOptions): Promise<Log[]> {
    return this.#threads.getLogs(threadId, options);
  }

  /**
   * The thread's events after a number, oldest first; goes on live unless `follow` is false. With `as: 'run'` they are RunEvents, each
   * with its cursor. Throws `InvalidValue`; for a run that is not there `ExecutionNotFound`.
   */
  events(threadId: string, options: FollowRunOptions): AsyncIterable<Projected<RunEvent>>;
  events(threadId: string, options: FollowTurnsOptions): AsyncIterable<Projected<RuntimeEvent>>;
  events(threadId: string, options: FollowTangleOptions): AsyncIterable<Projected<TangleEvent>>;
  events(threadId: string, options?: FollowOptions): AsyncIterable<ThreadEvent>;
  events(
    threadId: string,
    options: FollowOptions | FollowRunOptions | FollowTurnsOptions | FollowTangleOptions = {},
  ): AsyncIterable<ThreadEvent | Projected<RunEvent> | Projected<RuntimeEvent> | Projected<TangleEvent>> {
    if (!('as' in options)) return this.#threads.events(threadId, options);
    if (options.as === 'tangle') return this.#threads.tangle(threadId, options);
    return options.as === 'run'
      ? this.runs.events(threadId, options)
      : this.#threads.turns(threadId, options);
  }

  /** Effects that wait, of one name or of all, the next due first. A thread that is not there has none. */
  listEffects(threadId: string, name?: string): Promise<ScheduledEffect[]> {
    return this.#threads.listEffects(threadId, name);
  }

  /** Makes an effect that waits due now. False for one that does not wait. Throws `ThreadNotFound`, `ThreadTerminated`. */
  runEffect(threadId: string, id: string): Promise<boolean> {
    return this.#commands.runEffect(threadId, id);
  }

  /** True only when the effect still waited and now never fires. Throws `ThreadNotFound`. */
  removeEffect(threadId: string, id: string): Promise<boolean> {
    return this.#threads.removeEffect(threadId, id);
  }

  /** The files of a thread. A thread that is not there has none. */
  files(threadId: string): StoredFiles {
    return this.#threads.files(threadId);
  }

  /** The key-value store of a thread, for reading. */
  values(threadId: string): StoredValues {
    return this.#threads.values(threadId);
  }

  /**
   * Sets a variable of a thread, a user (the `userId` of threads) or the instance, also before the thread is there.
   * A new one is a secret unless `type` says text. Throws `InvalidVariable`, `ThreadTerminated`, `InvalidConfiguration`.
   */
  setEnv(owner: EnvOwner, name: string, value: string, options: { type?: EnvType } = {}): Promise<void> {
    return this.#variables.setEnv(owner, name, value, options);
  }

  /** Variables of this owner by name; the values of secrets are not told. */
  listEnv(owner: EnvOwner): Promise<readonly EnvEntry[]> {
    return this.#variables.listEnv(owner);
  }

  /** False when it was not there. */
  unsetEnv(owner: EnvOwner, name: string): Promise<boolean> {
    return this.#variables.unsetEnv(owner, name);
  }

  /** What a subagent needs before it can start; `childId` is the thread that it has become. Throws `VariableRequestNotFound`. */
  getVariableRequest(requestId: string): Promise<VariableRequest> {
    return this.#variables.getVariableRequest(requestId);
  }

  /** Those of a thread's subagents that still wait, oldest first. Throws `ThreadNotFound`. */
  listVariableRequests(threadId: string): Promise<readonly VariableRequest[]> {
    return this.#variables.listVariableRequests(threadId);
  }

  /** Calls that policies have judged, the newest first: 100 unless `limit` says otherwise. Throws `InvalidValue`. */
  listActions(options?: ListActions): Promise<readonly ActionRecord[]> {
    return this.#actions.listActions(options);
  }

  /**
   * Says what became of an uncertain action. Nothing is done again. A thread that waits for it (`onUncertain: 'wait'`) goes on with it; any other has
   * gone on, and the result that its model has read stays. Throws `InvalidValue`, `ActionNotFound`, and `ActionNotUncertain` where its end is known,
   * or somebody has said so already.
   */
  async reconcileAction(id: string, reconciliation: Reconciliation): Promise<ActionRecord> {
    const { action, wait } = await this.#actions.reconcile(id, reconciliation);
    // The same answer again: its thread is told.
    if (wait?.answer) await this.#commands.answerWait(wait.id, wait.answer, {});
    return action;
  }

  async close(): Promise<void> {
    await this.#close();
  }
}
