/**
 * Notifies listeners of the events that this process has written, after their transaction has committed. A listener
 * cannot affect the transaction, and without listeners nothing is done.
 */
import type { Insertable } from 'kysely';
import type { EventKind, ThreadEvent } from '../../core/event/thread-event.ts';
import type { Tables } from '../schema/tables.ts';
import type { EventListener } from './event-record.ts';
import type { ThreadRow } from './thread-transaction.ts';

export class EventPublisher {
  readonly #listeners = new Set<EventListener>();

  readonly listen = (listener: EventListener): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  publish(
    { id, agent }: Pick<ThreadRow, 'id' | 'agent'>,
    rows: readonly Insertable<Tables['events']>[],
  ): void {
    if (rows.length === 0) return;
    for (const { kinds, told } of this.#listeners) {
      for (const row of rows)
        if (kinds.has(row.type as EventKind)) {
          try {
            told({ threadId: id, agent }, toEvent(row));
          } catch {
            // The work that it tells of is done.
          }
        }
    }
  }
}

function toEvent({ seq, at, type, step, attempt, data }: Insertable<Tables['events']>): ThreadEvent {
  return {
    seq,
    at,
    type,
    data: JSON.parse(data as string),
    step: step ?? undefined,
    attempt: attempt ?? undefined,
  } as ThreadEvent;
}
