/** Starts, signals and updates the workflows of threads, and revives those that were killed. */
import type { Client } from '@temporalio/client';
import {
  revival,
  startOptions,
  WORKFLOW_TYPE,
  workflowIdOf,
  workflowTypeOf,
} from '../core/thread/start-options.ts';
import { RuntimeError } from '../core/value/error.ts';
import type { ThreadStore } from '../store/store.ts';
import type { ThreadRecord } from '../store/thread/thread-record.ts';
import { sendMessage } from '../workflows/messages.ts';
import type { thread } from '../workflows/thread.ts';
import type { OpenConnection } from './connect.ts';
import { refuseTerminated, workflowGoneError } from './known-thread.ts';
import type { StoredMessage } from './outgoing.ts';
import type { StoredStart } from './sent-content.ts';
import { isAlreadyStarted, isWorkflowGone, toRuntimeError } from './workflow-error.ts';

/** Input of the workflow of a new thread. */
interface StartWorkflow extends StoredStart {
  readonly messages: readonly StoredMessage[];
}

export class ThreadWorkflows {
  readonly #temporal: Client;
  readonly #store: ThreadStore;
  readonly #taskQueue: string;

  constructor({ temporal, store, taskQueue }: OpenConnection) {
    this.#temporal = temporal;
    this.#store = store;
    this.#taskQueue = taskQueue;
  }

  handle(threadId: string) {
    return this.#temporal.workflow.getHandle<typeof thread>(workflowIdOf(threadId));
  }

  /** Throws `ExecutionRunning` if the thread exists and is working, `InvalidStart` if it exists and is not. */
  async start(input: StartWorkflow): Promise<void> {
    try {
      await this.#temporal.workflow.start<typeof thread>(WORKFLOW_TYPE, {
        ...startOptions(input),
        taskQueue: this.#taskQueue,
        args: [input],
      });
    } catch (error) {
      if (!isAlreadyStarted(error)) throw toRuntimeError(error);
      if (input.stored) await this.#store.sent.drop(input.threadId, input.stored);
      throw await this.#toStartConflict(input.threadId, error);
    }
  }

  async #toStartConflict(threadId: string, cause: unknown): Promise<RuntimeError> {
    const last = await this.#store.executions.get(threadId);
    if (!last || last.endedAt !== null)
      return new RuntimeError(
        'InvalidStart',
        `There is a thread "${threadId}" already; send it a message instead.`,
        { cause },
      );
    return new RuntimeError(
      'ExecutionRunning',
      `Thread "${threadId}" is already running, and its execution "${last.id}" has not ended; send a message, or wait for the end.`,
      { cause },
    );
  }

  /** Throws `ThreadNotFound` if no workflow of the thread is running. */
  async requireRunning(threadId: string): Promise<void> {
    try {
      const { status } = await this.handle(threadId).describe();
      if (status.name !== 'RUNNING') throw await workflowGoneError(this.#store, threadId, undefined);
    } catch (error) {
      throw await this.#toError(threadId, error);
    }
  }

  /** Throws `ThreadTerminated`, `ThreadNotFound`. */
  async signal(threadId: string, signal: { name: string }, payload: unknown): Promise<void> {
    const record = await refuseTerminated(this.#store, threadId);
    try {
      if (!record) return await this.handle(threadId).signal(signal.name, payload);
      await this.#temporal.workflow.signalWithStart(workflowTypeOf(threadId), {
        ...revival(record),
        taskQueue: this.#taskQueue,
        signal: signal.name,
        signalArgs: [payload],
      });
    } catch (error) {
      throw await this.#toError(threadId, error);
    }
  }

  /** `record` is the thread's record in the store; null if no worker has opened the thread. */
  async send(threadId: string, record: ThreadRecord | null, payload: StoredMessage): Promise<{ id: string }> {
    try {
      if (!record) return await this.handle(threadId).executeUpdate(sendMessage, { args: [payload] });
      const { WithStartWorkflowOperation } = await import('@temporalio/client');
      const startWorkflowOperation = new WithStartWorkflowOperation(WORKFLOW_TYPE, {
        ...revival(record),
        taskQueue: this.#taskQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      return await this.#temporal.workflow.executeUpdateWithStart(sendMessage, {
        args: [payload],
        startWorkflowOperation,
      });
    } catch (error) {
      throw await this.#toError(threadId, error);
    }
  }

  async #toError(threadId: string, error: unknown): Promise<unknown> {
    return isWorkflowGone(error) ? workflowGoneError(this.#store, threadId, error) : toRuntimeError(error);
  }
}
