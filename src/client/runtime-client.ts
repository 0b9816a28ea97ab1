/**
 * RuntimeClient: starts threads, sends to them, reads them.
 * Commands travel as Temporal signals and updates; reads come from the store. A thread whose workflow was killed
 * is revived by the next command; a terminated one refuses every command with `ThreadTerminated`.
 */
import { randomUUID } from 'node:crypto';
import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import { RuntimeError } from '../core/error.ts';
import { isThreadId, WORKFLOW_ID_PREFIX } from '../core/start-input.ts';
import { revival, startOptions, WORKFLOW_TYPE } from '../core/start-options.ts';
import type { ThreadRecord } from '../store/port/thread-store.ts';
import {
  queueMessage,
  queueTool,
  sendMessage,
  stop,
  type ToolPayload,
  terminate,
  wakeForEffects,
  wakeForMessages,
} from '../workflows/messages.ts';
import type { thread } from '../workflows/thread.ts';
import { type ConnectOptions, type OpenConnection, openConnection } from './connect.ts';
import { goneError, refuseTerminated } from './known-thread.ts';
import { type Destination, type OutgoingMessage, prepareMessage, type SentPayload } from './outgoing.ts';
import { type ProvidedVariables, provideVariables } from './provide-variables.ts';
import { storeStartEnv } from './start-env.ts';
import type { StartThread } from './start-options.ts';
import { StoredVariables } from './stored-variables.ts';
import { type Sent, waitForIdle } from './wait-for-idle.ts';
import { isAlreadyStarted, isFull, isGone, toRuntimeError } from './workflow-error.ts';

export class RuntimeClient extends StoredVariables {
  readonly temporal: Client;
  readonly taskQueue: string;
  readonly #close: () => Promise<void>;
  /** By thread: what waitForIdle waits for. */
  readonly #sent = new Map<string, Sent>();

  private constructor({ temporal, store, taskQueue, close }: OpenConnection) {
    super(store);
    this.temporal = temporal;
    this.taskQueue = taskQueue;
    this.#close = close;
  }

  /** Throws `TemporalUnavailable` when no server answers. */
  static async connect(options: ConnectOptions = {}): Promise<RuntimeClient> {
    return new RuntimeClient(await openConnection(options));
  }

  /**
   * Starts a thread. Throws `InvalidStart` when it runs already, `ThreadTerminated` when its id is used up. The worker detects missing
   * required variables: the thread is `failed` with `MissingVariable` until they are set and a message arrives.
   */
  async startThread({
    agent,
    threadId = randomUUID(),
    userId,
    arguments: threadArguments,
    messages = [],
    env,
  }: StartThread): Promise<{ threadId: string }> {
    if (!isThreadId(threadId)) {
      throw new RuntimeError(
        'InvalidStart',
        `"${threadId}" cannot be a thread id: letters, digits and . _ : - alone.`,
      );
    }
    const known = await refuseTerminated(this.store, threadId);
    await storeStartEnv(this.store, threadId, known, env);
    const prepared: SentPayload[] = [];
    const to = this.#destination(threadId, { isNew: known === null });
    for (const message of messages) prepared.push(await prepareMessage(to, message));
    try {
      await this.temporal.workflow.start<typeof thread>(WORKFLOW_TYPE, {
        ...startOptions({ threadId, agent }),
        taskQueue: this.taskQueue,
        args: [{ agent, threadId, userId, arguments: threadArguments, messages: prepared }],
      });
    } catch (error) {
      if (!isAlreadyStarted(error)) throw toRuntimeError(error);
      throw new RuntimeError(
        'InvalidStart',
        `Thread "${threadId}" is running already; send it a message instead.`,
        { cause: error },
      );
    }
    for (const { id } of prepared) this.#sentTo(threadId).ids.add(id);
    return { threadId };
  }

  /**
   * Queues a message; resolves once the server has stored it. Repeating an id changes nothing.
   * Throws `ThreadNotFound`, `ThreadTerminated`, `InvalidMessage`, `MessageTooLarge`; with new files also the errors of writing a
   * file, and `ThreadNotFound` until a worker has opened the thread.
   */
  async queueMessage(threadId: string, message: OutgoingMessage): Promise<{ id: string }> {
    await refuseTerminated(this.store, threadId);
    const payload = await prepareMessage(this.#destination(threadId), message);
    await this.#signal(threadId, queueMessage, payload);
    this.#sentTo(threadId).ids.add(payload.id);
    return { id: payload.id };
  }

  /** Like queueMessage, but answered by the thread itself: needs a worker. */
  async sendMessage(threadId: string, message: OutgoingMessage): Promise<{ id: string }> {
    const record = await refuseTerminated(this.store, threadId);
    const payload = await prepareMessage(this.#destination(threadId), message);
    try {
      const answer = record
        ? await this.#updateWithStart(record, payload)
        : await this.#handle(threadId).executeUpdate(sendMessage, { args: [payload] });
      this.#sentTo(threadId).ids.add(answer.id);
      return answer;
    } catch (error) {
      if (!isGone(error)) throw toRuntimeError(error);
      throw await goneError(this.store, threadId, error);
    }
  }

  /** Queues a tool call; the model sees its result. */
  async queueTool(
    threadId: string,
    { id = randomUUID(), name, arguments: args = {} }: ToolPayload,
  ): Promise<{ id: string }> {
    await this.#signal(threadId, queueTool, { id, name, arguments: args });
    this.#sentTo(threadId).ids.add(id);
    return { id };
  }

  /** Ends the current execution; queued items wait for the next user message. */
  async stop(threadId: string, reason?: string): Promise<void> {
    await this.#signal(threadId, stop, { reason });
    this.#sentTo(threadId).signalled = true;
  }

  /**
   * Ends the thread for ever. Idempotent. Where the server accepts no more signals for the run, its workflow is cancelled,
   * which ends the thread as well; the reason is then `cancelled`.
   */
  async terminate(threadId: string, reason?: string): Promise<void> {
    const record = await this.store.getThread(threadId);
    if (record?.terminatedAt != null) return;
    try {
      await this.#signal(threadId, terminate, { reason });
    } catch (error) {
      if (!isFull(error)) throw error;
      await this.#handle(threadId).cancel();
    }
    this.#sentTo(threadId).signalled = true;
  }

  /** True only when the effect still waited and now never fires. Throws `ThreadNotFound`. */
  async removeEffect(threadId: string, id: string): Promise<boolean> {
    return this.store.removeEffect(threadId, id);
  }

  /**
   * Tells a thread that an effect was scheduled outside its own activities: in an endpoint, by another thread.
   * `inMs` is the answer of `store.scheduleEffect`. Throws `ThreadNotFound`, `ThreadTerminated`.
   */
  async wakeForEffects(threadId: string, inMs: number): Promise<void> {
    await this.#signal(threadId, wakeForEffects, { inMs });
  }

  /** Tells a thread that an item was queued by other means. Throws `ThreadNotFound`, `ThreadTerminated`. */
  async wake(threadId: string): Promise<void> {
    await this.#signal(threadId, wakeForMessages, {});
  }

  /**
   * Resolves with the thread once it is at rest and everything that this client sent to it has been taken. Where no worker can
   * confirm that, the store decides, but not over a `stop` or `terminate` of this client. Throws `Timeout` after `timeoutMs`
   * (default 60,000), with the thread's state.
   */
  async waitForIdle(
    threadId: string,
    { timeoutMs = 60_000 }: { timeoutMs?: number } = {},
  ): Promise<ThreadRecord> {
    const wait = { store: this.store, handle: this.#handle(threadId), sent: this.#sentTo(threadId) };
    return waitForIdle({ ...wait, threadId, timeoutMs });
  }

  /**
   * Gives a subagent of this thread all the variables that it waits for, and starts it. Its answer reaches the
   * thread as a message. Throws `VariableRequestNotFound`, `VariableRequestUsed` (and starts it all the same), `MissingVariable`,
   * `InvalidVariable`, `LimitExceeded`, `ThreadTerminated`.
   */
  async provideVariables(
    threadId: string,
    requestId: string,
    values: ProvidedVariables,
  ): Promise<{ childThreadId: string }> {
    const boot = () => this.#signal(threadId, wakeForMessages, { boot: true });
    return provideVariables(this.store, { parentId: threadId, requestId, values }, boot);
  }

  async close(): Promise<void> {
    await this.#close();
  }

  /** A thread that is about to start has no row yet: its files are staged, as its messages are. */
  #destination(threadId: string, { isNew = false } = {}): Destination {
    const { store } = this;
    const writeFile: Destination['writeFile'] = (file) =>
      isNew ? store.stageFile(threadId, file) : store.writeFile(threadId, file);
    return { store, threadId, writeFile };
  }

  #handle(threadId: string) {
    return this.temporal.workflow.getHandle<typeof thread>(WORKFLOW_ID_PREFIX + threadId);
  }

  /** Signals the thread; one whose workflow was killed is revived. */
  async #signal(threadId: string, signal: { name: string }, payload: unknown): Promise<void> {
    const record = await refuseTerminated(this.store, threadId);
    try {
      if (!record) return await this.#handle(threadId).signal(signal.name, payload);
      await this.temporal.workflow.signalWithStart(WORKFLOW_TYPE, {
        ...revival(record),
        taskQueue: this.taskQueue,
        signal: signal.name,
        signalArgs: [payload],
      });
    } catch (error) {
      if (!isGone(error)) throw toRuntimeError(error);
      throw await goneError(this.store, threadId, error);
    }
  }

  async #updateWithStart(record: ThreadRecord, payload: SentPayload): Promise<{ id: string }> {
    const startWorkflowOperation = new WithStartWorkflowOperation(WORKFLOW_TYPE, {
      ...revival(record),
      taskQueue: this.taskQueue,
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    return this.temporal.workflow.executeUpdateWithStart(sendMessage, {
      args: [payload],
      startWorkflowOperation,
    });
  }

  #sentTo(threadId: string): Sent {
    const sent = this.#sent.get(threadId) ?? { ids: new Set(), signalled: false };
    this.#sent.set(threadId, sent);
    return sent;
  }
}
