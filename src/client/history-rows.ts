/**
 * Rows of a log that belong to its history: those of superseded parts do not (store/message/supersede.ts, SU1). A reader
 * that follows the log has seen them while they were history; what is superseded meanwhile stays as it was told.
 */
import type { ThreadEvent } from '../core/event/thread-event.ts';
import type { ThreadStore } from '../store/store.ts';

/** True for a row of a superseded part. */
export type IsSuperseded = (row: { readonly seq: number }) => boolean;

export async function readSuperseded(store: ThreadStore, threadId: string): Promise<IsSuperseded> {
  const parts = await store.messages.listSuperseded(threadId);
  return ({ seq }) => parts.some(({ from, to }) => from <= seq && seq <= to);
}

/** Chooses the rows of a reading, in order. */
export class HistoryRows {
  readonly #isSuperseded: IsSuperseded;
  /** The execution that has begun and not ended. */
  #open: string | undefined;

  constructor(isSuperseded: IsSuperseded) {
    this.#isSuperseded = isSuperseded;
  }

  static async of(store: ThreadStore, threadId: string): Promise<HistoryRows> {
    return new HistoryRows(await readSuperseded(store, threadId));
  }

  /** A part may begin within an execution, which then ends as it did. */
  has(event: ThreadEvent): boolean {
    const ends = event.type === 'execution.ended' && event.data.executionId === this.#open;
    const has = ends || !this.#isSuperseded(event);
    if (ends) this.#open = undefined;
    else if (has && event.type === 'execution.started') this.#open = event.data.executionId;
    return has;
  }
}
