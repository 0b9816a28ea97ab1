/**
 * What is behind a client, for internal entry points that run author code on it (server). The package does not export
 * this: users of a client read and write through its methods.
 */
import type { MessageItem, ToolItem } from '../core/thread/item.ts';
import type { ThreadStore } from '../store/store.ts';

interface Inside {
  readonly store: ThreadStore;
  readonly queueItem: (threadId: string, item: MessageItem | ToolItem) => Promise<void>;
}

const INSIDES = new WeakMap<object, Inside>();

export function registerInside(client: object, inside: Inside): void {
  INSIDES.set(client, inside);
}

export function storeOf(client: object): ThreadStore {
  return insideOf(client).store;
}

/** Stores the item as it is, and signals its id. Rejects like `queueMessage` of the client. */
export function queueItem(client: object, threadId: string, item: MessageItem | ToolItem): Promise<void> {
  return insideOf(client).queueItem(threadId, item);
}

function insideOf(client: object): Inside {
  const inside = INSIDES.get(client);
  if (inside) return inside;
  throw new TypeError('Not a RuntimeClient of this copy of everthread.');
}
