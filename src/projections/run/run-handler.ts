/** What reads a row of one kind: what is known of the run behind it, and what the row tells. */
import type { EventKind, ThreadEvent, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { RunEventDraft } from './run-event.ts';
import type { OpenRun } from './run-state.ts';

export type Told = readonly [OpenRun, readonly RunEventDraft[]];

/** By kind; a kind without one tells nothing. */
export type RunHandlers = {
  readonly [Kind in EventKind]?: (run: OpenRun, event: ThreadEventOf<Kind>) => Told;
};

export type Fields = Readonly<Record<string, unknown>>;

/** For kinds whose rows only features leave that an agent switches on: their data are handed on as they are. */
export type LooseHandler = (run: OpenRun, data: Fields, event: ThreadEvent) => Told;
export type LooseHandlers = Readonly<Record<string, LooseHandler>>;

export const textOf = (data: Fields, name: string): string | undefined =>
  typeof data[name] === 'string' ? data[name] : undefined;

/** `maxSteps` as `max_steps`. */
export const toSnake = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** With the names of the page. */
export function snakeFields(data: Fields): Fields {
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [toSnake(name), value]));
}
