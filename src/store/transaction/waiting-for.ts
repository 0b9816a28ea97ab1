/**
 * What a thread waits for, and since when: columns of its row, for lists. The first wait that holds it up is shown until
 * it is over; while it is held up by a model, a wait for people takes that place.
 * - They are written with the status and with events, by transactions that write the row anyway. A thread that comes to
 *   rest, or goes on, waits for nothing (thread-transaction.ts, `set`).
 */
import type { WaitingFor } from '../thread/thread-record.ts';
import type { ThreadTransaction } from './thread-transaction.ts';

/** A wait for people blocks the thread. */
export function showHeldUp(thread: ThreadTransaction, { since, ...wait }: WaitingFor): void {
  if (thread.row.waiting_since !== null && !isModel(thread)) return;
  thread.set({ waiting_since: since, waiting_for: JSON.stringify(wait) });
}

/** A model takes no request for now. */
export function showHeld(thread: ThreadTransaction, model: string): void {
  if (thread.row.waiting_since !== null) return;
  const held: Omit<WaitingFor, 'since'> = { kind: 'model', name: model };
  thread.set({ waiting_since: thread.now, waiting_for: JSON.stringify(held) });
}

/** A model takes a request. */
export function showTaken(thread: ThreadTransaction): void {
  if (isModel(thread)) showNothing(thread);
}

/** A wait is over; if it was shown, the caller shows the next one. */
export function showOver(thread: ThreadTransaction, waitId: string): void {
  if (shownBy(thread)?.waitId === waitId) showNothing(thread);
}

function showNothing(thread: ThreadTransaction): void {
  thread.set({ waiting_since: null, waiting_for: null });
}

function isModel(thread: ThreadTransaction): boolean {
  return shownBy(thread)?.kind === 'model';
}

function shownBy({ row: { waiting_for: shown } }: ThreadTransaction): Omit<WaitingFor, 'since'> | null {
  return shown === null ? null : JSON.parse(shown);
}
