/** What reads a row of one kind: what is known of the run behind it, and what the row tells. */
import type { EventKind, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { RunEventDraft } from './run-event.ts';
import type { OpenRun } from './run-state.ts';

export type Told = readonly [OpenRun, readonly RunEventDraft[]];

/** By kind; a kind without one tells nothing. */
export type RunHandlers = {
  readonly [Kind in EventKind]?: (run: OpenRun, event: ThreadEventOf<Kind>) => Told;
};

export type Fields = Readonly<Record<string, unknown>>;

/** `maxSteps` as `max_steps`. */
export const toSnake = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** With the names of the page. */
export function snakeFields(data: object): Fields {
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [toSnake(name), value]));
}
