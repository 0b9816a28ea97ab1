/**
 * Projects the log as a story: sentences that say what happened and why. `everthread threads tail` prints them, and
 * pages show them: the one text for both.
 * - It may begin at the start of any execution: nothing that a sentence says is taken from an earlier one.
 * - Sentences depend on no piece of streamed text, since those are removed.
 */
import type { EventKind, ThreadEvent } from '../../core/event/thread-event.ts';
import { shorten } from '../../core/value/shown-text.ts';
import type { LogRow, Projection } from '../projection.ts';
import type { StoryHandler, StoryHandlers, Told } from './story-handler.ts';
import { MODEL_STORY } from './story-model.ts';
import type { StoryRow } from './story-row.ts';
import type { Story } from './story-state.ts';
import { THREAD_STORY } from './story-thread.ts';
import { TOOL_STORY } from './story-tool.ts';
import { WAIT_STORY } from './story-wait.ts';

/** Each kind of event is listed once: a new one is told, or left out on purpose. */
const HANDLERS: StoryHandlers = { ...THREAD_STORY, ...MODEL_STORY, ...TOOL_STORY, ...WAIT_STORY };

export const projectStory: Projection<Story, StoryRow> = (before, { event, message }: LogRow) => {
  const story = before.ended && event.type !== 'thread.status' ? { ...before, ended: false } : before;
  // The handler is looked up by the type of the event, so the cast is safe. Rows of newer workers may be unknown.
  const handler = HANDLERS[event.type] as StoryHandler<EventKind> | null | undefined;
  if (!handler) return [story, []];
  const [next, told] = handler(story, event as never, message);
  return [next, told.map((each) => toRow(event, each))];
};

function toRow({ seq, at, step, attempt, type, data }: ThreadEvent, told: Told): StoryRow {
  const place = { ...(step === undefined ? {} : { step }), ...(attempt === undefined ? {} : { attempt }) };
  const line = told.kind === 'text' ? told.line : shorten(told.line, MAX_LINE);
  return { seq, at, ...place, type, kind: told.kind, line, data: bound(told.data ?? data) };
}

/** A sentence is one line without control characters, whatever it quotes. */
const MAX_LINE = 2000;
const MAX_TEXT = 500;
/** Characters of JSON above which a value is left out. */
const MAX_VALUE = 2000;

/** The fields of an event as far as they are small. Stacks are for `threads show --debug`. */
function bound(data: object): Readonly<Record<string, unknown>> {
  const fields = Object.entries(data).flatMap(([key, value]) => {
    if (key === 'stack') return [];
    if (typeof value === 'string') return [[key, value.length > MAX_TEXT ? shorten(value, MAX_TEXT) : value]];
    return (JSON.stringify(value)?.length ?? 0) > MAX_VALUE ? [] : [[key, value]];
  });
  return Object.fromEntries(fields);
}
