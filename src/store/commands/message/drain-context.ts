/** What the contexts of drained items mean for these items: of a run that is cancelled, and as their messages tell of them. */
import { writeContextMetadata } from '../../../core/governance/context-metadata.ts';
import type { RunContext } from '../../../core/governance/run-context.ts';
import { givenContext, type WithContext } from '../base/run-context.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';

/** Of items that all say so: the first one's reason. Undefined where there is none. */
export function readCanceled([first]: readonly WithContext[]): { readonly reason?: string } | undefined {
  const context = first && givenContext(first);
  if (!context?.canceled) return undefined;
  return context.cancelReason === undefined ? {} : { reason: context.cancelReason };
}

/** A tool of a run that is cancelled never runs; a message of one is history. */
export function refuseCanceled(thread: ThreadTransaction, id: string): void {
  thread.emit('item.rejected', { id, code: 'InvalidMessage', reason: 'its context is canceled' });
}

/** An item that brought a context tells in its message what became of it. */
export function tellContext<Item extends WithContext>(item: Item, context: RunContext | null): Item {
  if (context === null || givenContext(item) === null) return item;
  return { ...item, metadata: { ...item.metadata, ...writeContextMetadata(context) } };
}
