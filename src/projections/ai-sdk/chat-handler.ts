/** Handlers of log rows by kind: each returns the new state of the response and the chunks that the row emits. */
import type { EventKind, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { OpenResponse } from './chat-state.ts';
import type { UiChunk, UiDialect } from './ui-chunk.ts';

export type ChatTransition = readonly [OpenResponse, readonly UiChunk[]];

/** Rows of a kind without a handler emit nothing. */
export type ChatHandlers = {
  readonly [Kind in EventKind]?: (
    response: OpenResponse,
    event: ThreadEventOf<Kind>,
    dialect: UiDialect,
  ) => ChatTransition;
};
