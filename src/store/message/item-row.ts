/** The row of an item in line, or staged for it; id and kind are columns, the rest is the payload. */
import { createHash } from 'node:crypto';
import type { QueueItem } from '../../core/thread/item.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';

export function toItemRow(threadId: string, item: QueueItem, now: number) {
  const { id, kind, ...payload } = item;
  return {
    thread_id: threadId,
    id,
    kind: kind === 'tool' ? ('tool' as const) : ('message' as const),
    payload: JSON.stringify(payload),
    created_at: now,
    own: 0,
    digest: digestOf(item),
  };
}

/** Covers what is said, shown or called. A repeated item may differ in its metadata, such as the time of the attempt. */
export function digestOf(item: QueueItem): string | null {
  if (item.kind === 'stored') return null;
  const content =
    item.kind === 'tool' ? [item.name, item.arguments] : [item.role, item.content, item.attachments ?? []];
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}
