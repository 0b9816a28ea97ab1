/**
 * Holds back, between the native worker and the SDK, the cancellations that a worker's shutdown causes, until the
 * process itself must end. The native worker has one grace period for all activities; here activities that ask models
 * have a separate one.
 */
import proto from '@temporalio/proto';
import type { NativeWorkerLike } from '@temporalio/worker/lib/worker.js';
import { ACTIVITIES } from '../core/thread/activities.ts';
import { TaskBuffer } from './task-buffer.ts';

// Node's import does not detect its named exports.
const { ActivityTaskCompletion } = proto.coresdk;
const { ActivityCancelReason, ActivityTask } = proto.coresdk.activity_task;

/**
 * Types of the activities that ask models. They are notified when their own grace period ends
 * (activities/base/dependencies.ts); cancellation is only for those that do not react.
 */
const MODEL_ACTIVITIES: readonly unknown[] = Object.entries(ACTIVITIES).flatMap(([name, { asksModels }]) =>
  asksModels ? [name] : [],
);

type Released = 'none' | 'short' | 'all';

export class HeldCancellations {
  #held: Buffer[] = [];
  #released: Released = 'none';
  #buffer: TaskBuffer | undefined;
  /** Task tokens of running activities that ask models. */
  readonly #modelTasks = new Set<string>();

  /** Releases the cancellations of all activities except those that ask models. */
  releaseShort(): void {
    this.#release('short');
  }

  releaseAll(): void {
    this.#release('all');
  }

  hold(worker: NativeWorkerLike): NativeWorkerLike {
    const { completeActivityTask, pollActivityTask } = worker;
    const line = new TaskBuffer(pollActivityTask, (task) => {
      const passes = this.#passes(task);
      if (!passes) this.#held.push(task);
      return passes;
    });
    this.#buffer = line;
    return Object.assign(worker, {
      pollActivityTask: () => line.next(),
      completeActivityTask: (completion: Buffer) => {
        if (this.#modelTasks.size > 0) {
          const { taskToken } = ActivityTaskCompletion.decodeDelimited(new Uint8Array(completion));
          this.#modelTasks.delete(keyOf(taskToken));
        }
        return completeActivityTask(completion);
      },
    });
  }

  #release(released: Released): void {
    this.#released = released;
    for (const task of this.#held.splice(0)) {
      if (this.#passes(task)) this.#buffer?.put(task);
      else this.#held.push(task);
    }
  }

  #passes(task: Buffer): boolean {
    const { taskToken, start, cancel } = ActivityTask.decode(new Uint8Array(task));
    if (start && MODEL_ACTIVITIES.includes(start.activityType)) this.#modelTasks.add(keyOf(taskToken));
    if (cancel?.reason !== ActivityCancelReason.WORKER_SHUTDOWN || this.#released === 'all') return true;
    return this.#released === 'short' && !this.#modelTasks.has(keyOf(taskToken));
  }
}

function keyOf(taskToken: Uint8Array): string {
  return Buffer.from(taskToken).toString('base64');
}
