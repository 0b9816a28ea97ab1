/**
 * A row of a thread's story: one sentence about what happened, and why. Plain text in one line: control characters and
 * marks that change the direction of text are shown as visible signs, and texts of others are cut.
 */
import type { EventKind } from '../../core/event/thread-event.ts';

export const STORY_KINDS = [
  /** A message of the thread. */
  'message',
  /** A piece of an answer while it streams: `line` is the piece itself, with its line breaks, and is not cut. */
  'text',
  'step',
  'tool',
  /** It waits: for a person, for a free worker, for the first words of an answer. */
  'wait',
  /** Something is tried again, or what was streamed is discarded. */
  'retry',
  /** A worker was lost, or has shut down. */
  'lost',
  'compaction',
  'trim',
  /** A model takes no request for now. */
  'limit',
  'fallback',
  'repair',
  'loop',
  'budget',
  'subagent',
  'status',
  'error',
] as const;

export type StoryKind = (typeof STORY_KINDS)[number];

/** Characters of a message that its sentence shows. */
export const MESSAGE_LENGTH = 500;

export interface StoryRow {
  /** Number of the event in the log. An event may give several rows, or none. */
  readonly seq: number;
  /** Microseconds since 1970. */
  readonly at: number;
  readonly step?: number;
  readonly attempt?: number;
  /** Kind of the event, whose fields `data` has (docs/generated/events.md). */
  readonly type: EventKind;
  readonly kind: StoryKind;
  readonly line: string;
  /** The cause as data: the event's own fields, long texts cut and large values left out. */
  readonly data: Readonly<Record<string, unknown>>;
}
