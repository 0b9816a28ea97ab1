/** The row of an item in line, or staged for it; id and kind are columns, the rest is the payload. */
import type { QueueItem } from '../../../core/thread/item.ts';

export function toItemRow(threadId: string, item: QueueItem, now: number) {
  const { id, kind, ...payload } = item;
  return {
    thread_id: threadId,
    id,
    kind: kind === 'tool' ? ('tool' as const) : ('message' as const),
    payload: JSON.stringify(payload),
    created_at: now,
    own: 0,
  };
}
