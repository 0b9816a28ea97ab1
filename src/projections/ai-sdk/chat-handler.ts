/** What reads a row of one kind: what is known of the response behind it, and what the row tells. */
import type { EventKind, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { OpenResponse } from './chat-state.ts';
import type { UiChunk, UiDialect } from './ui-chunk.ts';

export type ChatTold = readonly [OpenResponse, readonly UiChunk[]];

/** By kind; a kind without one tells nothing. */
export type ChatHandlers = {
  readonly [Kind in EventKind]?: (
    response: OpenResponse,
    event: ThreadEventOf<Kind>,
    dialect: UiDialect,
  ) => ChatTold;
};
