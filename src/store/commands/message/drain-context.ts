/** Applies the contexts of drained items to the items: a cancelled run, and what messages show of their context. */
import { writeContextMetadata } from '../../../core/governance/context-metadata.ts';
import type { RunContext } from '../../../core/governance/run-context.ts';
import { givenContext, type WithContext } from '../base/run-context.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';

/** The items are cancelled all or none: returns the first one's reason; undefined if none is. */
export function readCanceled([first]: readonly WithContext[]): { readonly reason?: string } | undefined {
  const context = first && givenContext(first);
  if (!context?.canceled) return undefined;
  return context.cancelReason === undefined ? {} : { reason: context.cancelReason };
}

/** A queued tool of a cancelled run never runs, so its item is rejected; a message of such a run becomes history. */
export function refuseCanceled(thread: ThreadTransaction, id: string): void {
  thread.emit('item.rejected', { id, code: 'InvalidMessage', reason: 'its context is canceled' });
}

/** Writes the composed context into the metadata of an item that brought a context. */
export function writeContext<Item extends WithContext>(item: Item, context: RunContext | null): Item {
  if (context === null || givenContext(item) === null) return item;
  return { ...item, metadata: { ...item.metadata, ...writeContextMetadata(context) } };
}
