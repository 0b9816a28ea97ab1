/**
 * A thread's stop reaches its activities at once where this process runs both. The server tells of a cancellation in its answer
 * to a heartbeat, and heartbeats are few, for they cost; but what a thread cancels passes here, in the completion of its task.
 * C1. Nothing is cancelled that the server does not want cancelled: it is asked, with a heartbeat, once the task has been sent. A task
 *     is sent with the last of its activations, and the one that cancels is not the last: another tells the thread of the end.
 * C2. What is not reached so, such as an activity of another worker, hears of it with its next heartbeat.
 */
import proto from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import { NativeWorker, type NativeWorkerLike } from '@temporalio/worker/lib/worker.js';
import { TaskLine } from './task-line.ts';

// Node's import does not detect its named exports.
const { ActivityTaskCompletion } = proto.coresdk;
const { ActivityCancelReason, ActivityTask } = proto.coresdk.activity_task;
const { WorkflowActivationCompletion } = proto.coresdk.workflow_completion;

/** An activity that runs in this process, of a run that this or another worker has. */
interface Running {
  readonly runId: string;
  readonly activityId: string;
  readonly taskToken: Uint8Array;
  readonly line: TaskLine;
  /** Its thread has cancelled it, and it has not been told. */
  cancelled: boolean;
}

/** Of all workers of one process: of a thread's activities some may be with a predecessor of its worker, some on another queue. */
export class PromptCancellations {
  readonly #server: Pick<NativeConnection, 'workflowService'>;
  readonly #namespace: string;
  readonly #running = new Map<string, Running>();

  constructor(server: Pick<NativeConnection, 'workflowService'>, namespace: string) {
    this.#server = server;
    this.#namespace = namespace;
  }

  /** In place of the SDK's own. */
  async createNative(...given: Parameters<typeof NativeWorker.create>): Promise<NativeWorkerLike> {
    return this.#watch(await NativeWorker.create(...given));
  }

  #watch(worker: NativeWorkerLike): NativeWorkerLike {
    const { pollActivityTask, completeActivityTask, completeWorkflowActivation } = worker;
    const line: TaskLine = new TaskLine(pollActivityTask, (task) => {
      this.#note(task, line);
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

  #note(task: Buffer, line: TaskLine): void {
    const { taskToken, start } = ActivityTask.decode(new Uint8Array(task));
    if (!start || start.isLocal) return;
    const runId = start.workflowExecution?.runId ?? '';
    const activityId = start.activityId ?? '';
    this.#running.set(keyOf(taskToken), { runId, activityId, taskToken, line, cancelled: false });
  }

  /** By earlier activations of the run; what this one cancels is noted. */
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

  /** C1: the server has it. */
  async #isWanted(taskToken: Uint8Array): Promise<boolean> {
    const asked = { namespace: this.#namespace, taskToken };
    try {
      return (await this.#server.workflowService.recordActivityTaskHeartbeat(asked)).cancelRequested ?? false;
    } catch {
      // C2: the next heartbeat tells. The server is away, or the activity has ended.
      return false;
    }
  }
}

function keyOf(taskToken: Uint8Array): string {
  return Buffer.from(taskToken).toString('base64');
}
