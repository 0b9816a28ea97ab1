/** Handlers of log rows by kind: each returns the new state of the run and the events that the row emits. */
import type { EventKind, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import type { AgUiReading, OpenRun } from './ag-ui-state.ts';

export type AgUiTransition = readonly [OpenRun, readonly AgUiEvent[]];

/** Rows of a kind without a handler emit nothing. */
export type AgUiHandlers = {
  readonly [Kind in EventKind]?: (
    run: OpenRun,
    event: ThreadEventOf<Kind>,
    reading: AgUiReading,
  ) => AgUiTransition;
};
