/**
 * Delivers a thread's cancellations to its activities at once if this process runs both. The server reports a
 * cancellation only in its response to a heartbeat, and heartbeats are rare because they are expensive; but the
 * workflow's cancel commands pass through this process, in the completion of its workflow task.
 * - An activity is cancelled only if the server confirms it, which is asked with a heartbeat. It is asked after the
 *   workflow task has been sent, which happens with the task's last activation. The activation that cancels is never
 *   the last: another one reports the activity's end to the thread.
 * - Any other activity, such as one of another worker, is cancelled with its next heartbeat.
 */
import proto from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import { NativeWorker, type NativeWorkerLike } from '@temporalio/worker/lib/worker.js';
import { TaskBuffer } from './task-buffer.ts';

// Node's import does not detect its named exports.
const { ActivityTaskCompletion } = proto.coresdk;
const { ActivityCancelReason, ActivityTask } = proto.coresdk.activity_task;
const { WorkflowActivationCompletion } = proto.coresdk.workflow_completion;

/** An activity that runs in this process. The workflow run that it belongs to may be on another worker. */
interface Running {
  readonly runId: string;
  readonly activityId: string;
  readonly taskToken: Uint8Array;
  readonly line: TaskBuffer;
  /** True if its thread has cancelled it and the cancellation has not been delivered yet. */
  cancelled: boolean;
}

/**
 * Shared by all workers of one process: a thread's activities may run on a predecessor of its current worker, or on
 * another task queue.
 */
export class PromptCancellations {
  readonly #server: Pick<NativeConnection, 'workflowService'>;
  readonly #namespace: string;
  readonly #running = new Map<string, Running>();

  constructor(server: Pick<NativeConnection, 'workflowService'>, namespace: string) {
    this.#server = server;
    this.#namespace = namespace;
  }

  /** Replaces the SDK's `NativeWorker.create`. */
  async createNative(...given: Parameters<typeof NativeWorker.create>): Promise<NativeWorkerLike> {
    return this.#watch(await NativeWorker.create(...given));
  }

  #watch(worker: NativeWorkerLike): NativeWorkerLike {
    const { pollActivityTask, completeActivityTask, completeWorkflowActivation } = worker;
    const line: TaskBuffer = new TaskBuffer(pollActivityTask, (task) => {
      this.#track(task, line);
      return true;
    });
    return Object.assign(worker, {
      pollActivityTask: () => line.next(),
      completeActivityTask: (completion: Buffer) => {
        const { taskToken } = ActivityTaskCompletion.decodeDelimited(new Uint8Array(completion));
        this.#running.delete(keyOf(taskToken));
        return completeActivityTask(completion);
      },
      completeWorkflowActivation: async (completion: Buffer) => {
        const cancelled = this.#cancelledBefore(completion);
        await completeWorkflowActivation(completion);
        for (const running of cancelled) void this.#cancel(running);
      },
    });
  }

  #track(task: Buffer, line: TaskBuffer): void {
    const { taskToken, start } = ActivityTask.decode(new Uint8Array(task));
    if (!start || start.isLocal) return;
    const runId = start.workflowExecution?.runId ?? '';
    const activityId = start.activityId ?? '';
    this.#running.set(keyOf(taskToken), { runId, activityId, taskToken, line, cancelled: false });
  }

  /** Returns the activities that earlier activations of the run cancelled, and marks those that this one cancels. */
  #cancelledBefore(completion: Buffer): Running[] {
    if (this.#running.size === 0) return [];
    const { runId, successful } = WorkflowActivationCompletion.decodeDelimited(new Uint8Array(completion));
    const own = [...this.#running.values()].filter((running) => running.runId === runId);
    const before = own.filter(({ cancelled }) => cancelled);
    for (const { requestCancelActivity } of successful?.commands ?? []) {
      // The SDK names an activity by its number.
      const id = requestCancelActivity ? String(requestCancelActivity.seq) : undefined;
      for (const running of own) if (running.activityId === id) running.cancelled = true;
    }
    return before;
  }

  async #cancel(running: Running): Promise<void> {
    const { taskToken, line } = running;
    if (!(await this.#isWanted(taskToken)) || !this.#running.has(keyOf(taskToken))) return;
    running.cancelled = false;
    const cancel = { reason: ActivityCancelReason.CANCELLED, details: { isCancelled: true } };
    line.put(Buffer.from(ActivityTask.encode({ taskToken, cancel }).finish()));
  }

  /** True if the server has recorded the request to cancel the activity. */
  async #isWanted(taskToken: Uint8Array): Promise<boolean> {
    const asked = { namespace: this.#namespace, taskToken };
    try {
      return (await this.#server.workflowService.recordActivityTaskHeartbeat(asked)).cancelRequested ?? false;
    } catch {
      // The server is unreachable, or the activity has ended. The next heartbeat reports the cancellation, if any.
      return false;
    }
  }
}

function keyOf(taskToken: Uint8Array): string {
  return Buffer.from(taskToken).toString('base64');
}
