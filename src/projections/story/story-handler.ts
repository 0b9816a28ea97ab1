/** How an event becomes sentences: each kind of event has a handler, or says nothing. */
import type { EventData, EventKind, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { Message } from '../../core/message/message.ts';
import type { StoryKind } from './story-row.ts';
import type { Story } from './story-state.ts';

export interface Told {
  readonly kind: StoryKind;
  readonly line: string;
  /** Instead of the event's own data. */
  readonly data?: Readonly<Record<string, unknown>>;
}

export type StoryTransition = readonly [Story, readonly Told[]];

export type StoryHandler<Kind extends EventKind> = (
  story: Story,
  event: ThreadEventOf<Kind>,
  message: Message | null | undefined,
) => StoryTransition;

/** `null`: the event says nothing that another one does not say better. */
export type StoryHandlers<Kinds extends EventKind = EventKind> = {
  readonly [Kind in Kinds]: StoryHandler<Kind> | null;
};

/** A handler that needs no state. An undefined line is not told. */
export function tell<Kind extends EventKind>(
  kind: StoryKind,
  toLine: (data: EventData[Kind], event: ThreadEventOf<Kind>) => string | undefined,
): StoryHandler<Kind> {
  return (story, event) => {
    const line = toLine(event.data, event);
    return [story, line === undefined ? [] : [{ kind, line }]];
  };
}
