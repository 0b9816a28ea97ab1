/**
 * Converts a row of the log to an event. Rows outlive the version that wrote them, and workers of two versions may
 * share a store: an unknown kind is shown like the authors' own events.
 */
import type { Selectable } from 'kysely';
import { isEventKind, type ThreadEvent } from '../../core/event/thread-event.ts';
import type { EventTable } from './tables.ts';

export function readEvent(row: Selectable<EventTable>): ThreadEvent {
  const given: unknown = JSON.parse(row.data);
  return {
    seq: row.seq,
    at: row.at,
    step: row.step ?? undefined,
    attempt: row.attempt ?? undefined,
    ...(isEventKind(row.type)
      ? { type: row.type, data: given }
      : { type: 'custom', data: { event: row.type, data: given } }),
  } as ThreadEvent;
}
