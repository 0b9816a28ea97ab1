/** What reads a row of one kind: what is known of the run behind it, and what the row tells. */
import type { EventKind, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import type { AgUiReading, OpenRun } from './ag-ui-state.ts';

export type AgUiTold = readonly [OpenRun, readonly AgUiEvent[]];

/** By kind; a kind without one tells nothing. */
export type AgUiHandlers = {
  readonly [Kind in EventKind]?: (run: OpenRun, event: ThreadEventOf<Kind>, reading: AgUiReading) => AgUiTold;
};
