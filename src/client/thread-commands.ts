/**
 * Commands of a client to threads: signals and updates to their workflows. What a person or program has written goes
 * into the store first; signals carry ids.
 * - A thread whose workflow was killed is revived by the next command; a terminated one refuses every command.
 * - A command that is refused is never acknowledged. The server accepts signals for a thread that is ending, and
 *   without a worker: so a thread is terminated in the store, too, once its workflow has been signalled. A thread
 *   that no worker has opened is not in the store; until it is, only the client that has terminated it knows.
 */

import type { Client } from '@temporalio/client';
import { type Canceling, type CancelRequest, refuseCancel } from '../core/governance/cancellation.ts';
import type { MessageItem, ToolItem } from '../core/thread/item.ts';
import { isTaskThread } from '../core/thread/task-start.ts';
import { RuntimeError } from '../core/value/error.ts';
import type { WaitAnswer } from '../core/wait/answer.ts';
import type { WaitVerdict } from '../core/wait/wait.ts';
import type { ExecutionRecord } from '../store/execution/execution-record.ts';
import type { ForkedThread } from '../store/fork/fork-record.ts';
import type { SupersededTail } from '../store/message/message-record.ts';
import type { ThreadStore } from '../store/store.ts';
import type { ThreadRecord } from '../store/thread/thread-record.ts';
import {
  answerWait,
  cancelExecution,
  queueMessage,
  stop,
  type ToolPayload,
  terminate,
  wakeAfter,
  wakeForEffects,
  wakeForMessages,
} from '../workflows/messages.ts';
import { findAcceptedThread } from './accepted-thread.ts';
import { type AnswerOptions, answerStoredWait } from './answer-wait.ts';
import { awaitCall, type CalledTool, type CallOptions, type ToolToCall } from './call-tool.ts';
import type { OpenConnection } from './connect.ts';
import { type DeletedThreads, deleteThread } from './delete-thread.ts';
import { refuseTerminated, requireExecution, requireThread, terminatedError } from './known-thread.ts';
import { newThreadId } from './new-thread-id.ts';
import { type Destination, type OutgoingMessage, prepareMessage, type StoredMessage } from './outgoing.ts';
import { cancelWith, checkCancelRequest, toPendingRecord } from './outgoing-cancel.ts';
import { prepareTool } from './outgoing-tool.ts';
import { type ProvidedVariables, provideVariables } from './provide-variables.ts';
import { storeReason, storeStart } from './sent-content.ts';
import { SentLedger } from './sent-ledger.ts';
import { checkFork, checkStart, type ForkThread, type StartThread } from './start-options.ts';
import { type Supersede, supersedeTail } from './supersede.ts';
import { ThreadWorkflows } from './thread-workflows.ts';
import { type IdleOptions, waitForIdle } from './wait-for-idle.ts';
import { isSignalLimitReached } from './workflow-error.ts';

/** Id of the message that a fork begins with, unless it has one: the same fork again sends it once. */
const FIRST_MESSAGE = 'fork-message';

export class ThreadCommands {
  readonly #store: ThreadStore;
  readonly #workflows: ThreadWorkflows;
  readonly #temporal: Client;
  readonly #sent = new SentLedger();
  readonly #refuseForeignWorkers: () => Promise<void>;

  constructor(connection: OpenConnection) {
    this.#refuseForeignWorkers = connection.refuseForeignWorkers;
    this.#store = connection.store;
    this.#workflows = new ThreadWorkflows(connection);
    this.#temporal = connection.temporal;
  }

  async start(thread: StartThread): Promise<{ threadId: string }> {
    const { messages = [], env, ...given } = thread;
    const threadId = given.threadId ?? newThreadId(given.agent);
    const input = checkStart({ ...given, threadId }, messages.length);
    const known = await this.#refuseEnded(threadId);
    await this.#refuseForeignWorkers();
    await storeStartEnv(this.#store, threadId, known, env);
    const prepared: StoredMessage[] = [];
    const own = { isNew: known === null, userId: input.userId ?? null };
    const to = { ...this.#destination(threadId, own), opens: true };
    const outgoing = messages.map(cancelWith(input.context));
    const alone = outgoing.findLastIndex(({ output, executionId }) => (output ?? executionId) !== undefined);
    for (const [n, message] of outgoing.entries())
      prepared.push(await prepareMessage({ ...to, precedes: n < alone || undefined }, message));
    await this.#workflows.start({ ...(await storeStart(this.#store, input)), messages: prepared });
    for (const { id } of prepared) this.#sent.add(threadId, id);
    return { threadId };
  }

  /** Its workflow is started even without a message: a start under the same id is then refused. */
  async fork(threadId: string, { message, threadId: given, ...options }: ForkThread): Promise<ForkedThread> {
    const { agent } = await requireThread(this.#store, threadId);
    const forkId = given ?? newThreadId(options.agent ?? agent);
    if (isTaskThread(threadId))
      throw new RuntimeError(
        'InvalidRequest',
        `"${threadId}" is a task: only threads of agents can be forked.`,
      );
    checkFork(forkId, options);
    await this.#refuseForeignWorkers();
    const accepting = { temporal: this.#temporal, store: this.#store };
    if ((await this.#refuseEnded(forkId)) === null && (await findAcceptedThread(accepting, forkId)))
      throw new RuntimeError(
        'InvalidStart',
        `There is a thread "${forkId}" already: fork under an id of its own.`,
      );
    const forked = await this.#store.threads.fork({ ...options, threadId, forkId });
    if (!message) {
      await this.wake(forkId);
      return forked;
    }
    const { id: messageId } = await this.queueMessage(forkId, { id: FIRST_MESSAGE, ...message });
    return { ...forked, messageId };
  }

  async queueMessage(threadId: string, message: OutgoingMessage): Promise<{ id: string }> {
    const record = await this.#requireReceiver(threadId);
    const payload = await prepareMessage(this.#destination(threadId, { userId: record?.userId }), message);
    await this.#workflows.signal(threadId, queueMessage, payload);
    this.#sent.addMessage(threadId, payload.id, message);
    return { id: payload.id };
  }

  async sendMessage(threadId: string, message: OutgoingMessage): Promise<{ id: string }> {
    const record = await this.#requireReceiver(threadId);
    const payload = await prepareMessage(this.#destination(threadId, { userId: record?.userId }), message);
    const answer = await this.#workflows.send(threadId, record, payload);
    this.#sent.addMessage(threadId, answer.id, message);
    return answer;
  }

  async queueTool(threadId: string, tool: ToolPayload): Promise<{ id: string }> {
    const record = await this.#requireReceiver(threadId);
    const payload = await prepareTool(this.#store, { threadId, userId: record?.userId ?? null }, tool);
    await this.#workflows.signal(threadId, queueMessage, payload);
    this.#sent.add(threadId, payload.id);
    return { id: payload.id };
  }

  /** For code of the project, which may name any tool and files of the thread. */
  async queueItem(threadId: string, item: MessageItem | ToolItem): Promise<void> {
    await this.#requireReceiver(threadId);
    await this.#store.queue.stage(threadId, item);
    const { id } = item;
    const role = item.kind === 'message' && item.role === 'user' ? 'user' : 'assistant';
    await this.#workflows.signal(threadId, queueMessage, { id, role, stored: true });
    this.#sent.addMessage(threadId, id, { role });
  }

  async callTool(
    threadId: string,
    tool: ToolToCall,
    { timeoutMs = 60_000 }: CallOptions,
  ): Promise<CalledTool> {
    const after = (await this.#store.threads.get(threadId))?.lastSeq ?? 0;
    const { id } = await this.queueTool(threadId, { ...tool, unanswered: true });
    return awaitCall(this.#store, { threadId, id, after, timeoutMs });
  }

  async stop(threadId: string, reason?: string): Promise<void> {
    await this.#refuseEnded(threadId);
    await this.#workflows.signal(threadId, stop, await storeReason(this.#store, threadId, reason));
    this.#sent.of(threadId).signalled = true;
  }

  /** Queued items are taken as if a person had sent a message; if there are none, the model is asked to continue. */
  async continue(threadId: string): Promise<void> {
    await this.#refuseEnded(threadId);
    await this.#workflows.signal(threadId, wakeForMessages, { speaks: true, unprompted: true });
    this.#sent.of(threadId).signalled = true;
  }

  async supersede(threadId: string, request: Supersede): Promise<SupersededTail> {
    const record = await this.#requireReceiver(threadId);
    const superseded = await supersedeTail(
      {
        to: this.#destination(threadId, { userId: record?.userId }),
        stop: () => this.stop(threadId, 'superseded'),
        rest: () => this.waitForIdle(threadId, {}),
        terminate: (childId) => this.terminate(childId, 'superseded'),
      },
      request,
    );
    await this.#workflows.signal(threadId, wakeForMessages, { speaks: true });
    this.#sent.addMessage(threadId, superseded.messageId, {});
    return superseded;
  }

  /** The store is asked first whether there is anything to cancel, which works without a worker. */
  async cancelExecution(threadId: string, request: CancelRequest): Promise<ExecutionRecord> {
    const checked = checkCancelRequest(request);
    const thread = await requireThread(this.#store, threadId);
    const verdict = await this.#store.executions.cancel({ threadId, ...checked });
    const refusal = refuseCancel(threadId, checked, verdict);
    if (refusal) throw new RuntimeError(refusal.code, refusal.message);
    const canceling = verdict as Canceling;
    const { executionId } = canceling;
    if (canceling.ahead) return toPendingRecord(thread, canceling);
    // The store has the reason.
    await this.#workflows.signal(threadId, cancelExecution, { executionId });
    this.#sent.of(threadId).signalled = true;
    return requireExecution(this.#store, threadId, executionId);
  }

  async terminate(threadId: string, reason?: string): Promise<void> {
    const record = await this.#store.threads.get(threadId);
    if (record?.terminatedAt != null) return;
    try {
      await this.#workflows.signal(threadId, terminate, await storeReason(this.#store, threadId, reason));
    } catch (error) {
      if (!isSignalLimitReached(error)) throw error;
      await this.#workflows.handle(threadId).cancel();
    }
    Object.assign(this.#sent.of(threadId), { signalled: true, ended: true });
    if (record) await this.#store.threads.terminate(threadId, reason);
  }

  async deleteThread(threadId: string): Promise<DeletedThreads> {
    const terminate = () => this.terminate(threadId, 'deleted');
    return deleteThread({ store: this.#store, temporal: this.#temporal, threadId, terminate });
  }

  /** The effect is made due in the store first: if the signal is lost, the next check for effects still finds it. */
  async runEffect(threadId: string, id: string): Promise<boolean> {
    await requireThread(this.#store, threadId);
    if (!(await this.#store.effects.expedite(threadId, id))) return false;
    await this.#workflows.signal(threadId, wakeForEffects, { inMs: 0 });
    return true;
  }

  async wakeForEffects(threadId: string, inMs: number): Promise<void> {
    await this.#workflows.signal(threadId, wakeForEffects, { inMs });
  }

  async wake(threadId: string): Promise<void> {
    await this.#workflows.signal(threadId, wakeForMessages, {});
  }

  async provideVariables(
    threadId: string,
    requestId: string,
    values: ProvidedVariables,
  ): Promise<{ childThreadId: string }> {
    const boot = () => this.#workflows.signal(threadId, wakeForMessages, { boot: true });
    return provideVariables(this.#store, { parentId: threadId, requestId, values }, boot);
  }

  async answerWait(id: string, answer: WaitAnswer, options: AnswerOptions): Promise<WaitVerdict> {
    return answerStoredWait(this.#store, { id, answer, ...options }, async (wait) => {
      const { threadId } = wait;
      const thread = await this.#store.threads.get(threadId);
      if (thread?.terminatedAt !== null) return;
      const wake = wakeAfter(wait);
      if (wake) await this.#workflows.signal(threadId, wakeForMessages, wake);
      else await this.#workflows.signal(threadId, answerWait, { id });
    });
  }

  async waitForIdle(
    threadId: string,
    { timeoutMs = 60_000, sent: given, signal }: IdleOptions,
  ): Promise<ThreadRecord> {
    const handle = this.#workflows.handle(threadId);
    const { ids = [], words = [], signalled = false } = given ?? {};
    const sent = given ? { ids: new Set(ids), words: new Set(words), signalled } : this.#sent.of(threadId);
    return waitForIdle({ store: this.#store, handle, sent, threadId, timeoutMs, signal });
  }

  /** A thread that is about to start has no row yet: its files are staged, as its messages are. */
  #destination(
    threadId: string,
    { isNew = false, userId = null }: { readonly isNew?: boolean; readonly userId?: string | null },
  ): Destination {
    const store = this.#store;
    const writeFile: Destination['writeFile'] = (file) =>
      isNew ? store.files.stage(threadId, file) : store.files.write(threadId, file);
    return { store, threadId, userId, writeFile };
  }

  /** Throws for a thread that could not receive what is about to be stored for it. */
  async #requireReceiver(threadId: string): Promise<ThreadRecord | null> {
    const record = await this.#refuseEnded(threadId);
    if (record === null) await this.#workflows.requireRunning(threadId);
    await this.#refuseForeignWorkers();
    return record;
  }

  /** Throws `ThreadTerminated`. Returns the record of the thread, or null if no worker has opened it. */
  async #refuseEnded(threadId: string): Promise<ThreadRecord | null> {
    const record = await refuseTerminated(this.#store, threadId);
    if (record === null && this.#sent.hasEnded(threadId)) throw terminatedError(threadId);
    return record;
  }
}

/**
 * Stores the variables of a new thread before its workflow begins; they are sent nowhere else. Throws `InvalidStart`
 * for a thread that exists already, `InvalidVariable`, and `InvalidConfiguration` if there is no key to encrypt with.
 */
async function storeStartEnv(
  store: ThreadStore,
  threadId: string,
  known: ThreadRecord | null,
  env: StartThread['env'] = {},
): Promise<void> {
  const entries = Object.entries(env);
  if (known && entries.length > 0) {
    throw new RuntimeError(
      'InvalidStart',
      `Thread "${threadId}" already exists; set its variables with setEnv.`,
    );
  }
  for (const [name, given] of entries) {
    const { value, type } = typeof given === 'string' ? { value: given, type: undefined } : given;
    await store.env.set({ owner: { thread: threadId }, name, value, type });
  }
}
