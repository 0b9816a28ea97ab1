/** The payload of a queued message, as its row has it. */
import type { MessageItem } from '../../core/thread/item.ts';

export interface StoredMessagePayload
  extends Omit<MessageItem, 'kind' | 'id' | 'executionId' | 'attachments'> {
  readonly attachments?: MessageItem['attachments'] | null;
}
