/** Handlers of log rows by kind: each returns the new state of the run and the events that the row emits. */
import type { EventKind, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { RunEventDraft } from './run-event.ts';
import type { OpenRun } from './run-state.ts';

export type RunTransition = readonly [OpenRun, readonly RunEventDraft[]];

/** Rows of a kind without a handler emit nothing. */
export type RunHandlers = {
  readonly [Kind in EventKind]?: (run: OpenRun, event: ThreadEventOf<Kind>) => RunTransition;
};

export type Fields = Readonly<Record<string, unknown>>;

/** Converts `maxSteps` to `max_steps`. */
export const toSnake = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Renames fields to snake case, as the page has them. */
export function snakeFields(data: object): Fields {
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [toSnake(name), value]));
}
