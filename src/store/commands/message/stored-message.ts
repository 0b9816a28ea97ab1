/** The payload of a queued message, as its row has it. */
import type { GivenContext } from '../../../core/governance/run-context.ts';
import type { AttachmentRef } from '../../../core/message/message.ts';

export interface StoredMessagePayload {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string;
  readonly silent?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly attachments?: readonly (string | AttachmentRef)[] | null;
  readonly context?: GivenContext;
}
