/**
 * The store's messages (definitions §14.2, §15). Attachments given here are already files of the thread.
 * Writes reject with `ThreadTerminated`, `ThreadNotFound`.
 */

import type { AttachmentRef } from '../../core/message/message.ts';

export interface InjectedMessage {
  /** Idempotency key: the same id again stores nothing and returns the existing message. */
  readonly id: string;
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string | null;
  readonly attachments?: readonly AttachmentRef[];
  readonly silent?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly executionId: string | null;
  /** Set with `depth` if the code of a sub-prompt adds the message below the thread's own. */
  readonly parentId?: string | null;
  readonly depth?: number;
}

export interface StoredMessageUpdates {
  readonly content?: string;
  readonly silent?: boolean;
  /** Merged into the existing metadata; a key set to null is removed. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly attachments?: readonly AttachmentRef[];
}
