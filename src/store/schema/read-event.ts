/**
 * Converts a row of the log to an event. Rows outlive the version that wrote them, and workers of two versions may
 * share a store: fields that an earlier version did not write get their values here, and an unknown kind is shown like
 * the authors' own events.
 */
import type { Selectable } from 'kysely';
import {
  type EventData,
  type EventKind,
  isEventKind,
  type ThreadEvent,
} from '../../core/event/thread-event.ts';
import type { EventTable } from './tables.ts';

/** Values of fields that early rows of a kind lack. */
const EARLIER_DEFAULTS: { readonly [Kind in EventKind]?: Partial<EventData[Kind]> } = {
  'execution.aborted': { keptText: false },
  'model.answered': { usage: null, cost: null },
};

export function readEvent(row: Selectable<EventTable>): ThreadEvent {
  const given: unknown = JSON.parse(row.data);
  return {
    seq: Number(row.seq),
    at: Number(row.at),
    ...(row.step === null ? {} : { step: row.step }),
    ...(row.attempt === null ? {} : { attempt: row.attempt }),
    ...(isEventKind(row.type)
      ? { type: row.type, data: { ...EARLIER_DEFAULTS[row.type], ...(given as object) } }
      : { type: 'custom', data: { event: row.type, data: given } }),
  } as ThreadEvent;
}
