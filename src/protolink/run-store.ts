/**
 * Run stores. The engine's own index and log are one already (`client.runs`); one of an application's own is given each run once it has ended,
 * and whatever it does with it is its own affair.
 */
import type { EventSink } from '../client/event-sink.ts';
import type { RunEvent } from '../projections/run/run-event.ts';
import type { RunReport } from '../projections/run/run-report.ts';
import { RunRecorder } from './run-recorder.ts';
import { Task } from './task.ts';

export interface RunStore {
  /** The task as it has ended. The same one again replaces it. */
  saveTask(task: Task): unknown;
  /** Its `metadata` has the ids. The same one again replaces it. */
  saveReport(report: RunReport): unknown;
}

export async function keepRun(store: RunStore, task: Task, report: RunReport): Promise<void> {
  await store.saveTask(task);
  await store.saveReport(report);
}

/**
 * Gives a run store each run that ends in a thread, for `client.runs.attach`. Attach it at the begin of a run.
 * @example
 * ```ts
 * const sink = new RunStoreSink({
 *   saveTask: ({ id, state }) => console.log(id, state),
 *   saveReport: ({ metadata }) => console.log(metadata.run_id),
 * });
 * await client.runs.attach(threadId, sink, { follow: false });
 * ```
 */
export class RunStoreSink implements EventSink {
  readonly #store: RunStore;
  readonly #recorder = new RunRecorder();
  #task: Task | undefined;

  constructor(store: RunStore) {
    this.#store = store;
  }

  async emit(event: RunEvent): Promise<void> {
    if (event.sequence === 1) this.#begin(event);
    const task = this.#task;
    if (!task || event.sequence === null) return;
    this.#recorder.emit(event);
    task.follow(event);
    if (event.final) await keepRun(this.#store, task, this.#recorder.toReport());
  }

  #begin({ task_id: id }: RunEvent): void {
    this.#recorder.clear();
    this.#task = new Task(id === null ? {} : { id });
  }
}
