/** Items whose content came through Temporal, where the settings refuse that. */
import type { QueueItem, Refusal } from './item.ts';

const REASON =
  'its content came through Temporal, which this worker refuses (EVERTHREAD_SIGNALLED_CONTENT=refuse); send it with the everthread client, which stores content first';

/** Returns the items that name stored content, and a refusal of each other one. */
export function refuseContent(items: readonly QueueItem[]): {
  readonly items: readonly QueueItem[];
  readonly rejections: readonly Refusal[];
} {
  return {
    items: items.filter(({ kind }) => kind === 'stored'),
    rejections: items
      .filter(({ kind }) => kind !== 'stored')
      .map(({ id }) => ({ id, code: 'ContentRefused', reason: REASON })),
  };
}
