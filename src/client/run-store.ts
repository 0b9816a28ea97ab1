/**
 * Run stores that an application provides. The index and the log form a run store already (`client.runs`); one of an
 * application receives each run once it has ended, for its own use.
 */
import type { RunEvent } from '../projections/run/run-event.ts';
import type { RunReport } from '../projections/run/run-report.ts';
import type { RunTask } from '../projections/run/run-task.ts';
import type { EventSink } from './event-sink.ts';
import { RunRecorder } from './run-recorder.ts';

export interface RunStore {
  /** Receives the ended execution as a task. A task with the same id replaces the earlier one. */
  saveTask(task: RunTask): unknown;
  /** Receives the report, whose `metadata` has the ids. A report of the same run replaces the earlier one. */
  saveReport(report: RunReport): unknown;
}

/** Saves the task and the report of a run that has ended. */
export async function saveRun(store: RunStore, report: RunReport): Promise<void> {
  await store.saveTask(report.final_task as unknown as RunTask);
  await store.saveReport(report);
}

/**
 * Saves each run that ends in a thread to a run store; pass it to `client.runs.attach`. Attach it at the beginning of a
 * run.
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
  #recorder: RunRecorder | undefined;

  constructor(store: RunStore) {
    this.#store = store;
  }

  async emit(event: RunEvent): Promise<void> {
    if (event.sequence === null) return;
    if (event.sequence === 1) this.#recorder = new RunRecorder();
    this.#recorder?.emit(event);
    if (event.final && this.#recorder) await saveRun(this.#store, this.#recorder.toReport());
  }
}
