/**
 * Stores of runs that an application keeps itself. The index and the log are one already (`client.runs`); one of an application's own is given
 * each run once it has ended, and whatever it does with it is its own affair.
 */
import type { RunEvent } from '../projections/run/run-event.ts';
import type { RunReport } from '../projections/run/run-report.ts';
import type { RunTask } from '../projections/run/run-task.ts';
import type { EventSink } from './event-sink.ts';
import { RunRecorder } from './run-recorder.ts';

export interface RunStore {
  /** The execution as a task, as it has ended. The same one again replaces it. */
  saveTask(task: RunTask): unknown;
  /** Its `metadata` has the ids. The same one again replaces it. */
  saveReport(report: RunReport): unknown;
}

/** Of a run that has ended. */
export async function keepRun(store: RunStore, report: RunReport): Promise<void> {
  await store.saveTask(report.final_task as unknown as RunTask);
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
  #recorder: RunRecorder | undefined;

  constructor(store: RunStore) {
    this.#store = store;
  }

  async emit(event: RunEvent): Promise<void> {
    if (event.sequence === null) return;
    if (event.sequence === 1) this.#recorder = new RunRecorder();
    this.#recorder?.emit(event);
    if (event.final && this.#recorder) await keepRun(this.#store, this.#recorder.toReport());
  }
}
