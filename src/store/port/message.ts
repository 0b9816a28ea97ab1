/**
 * The store's messages (definitions §14.2, §15). Attachments given here are already files of the thread.
 * Writes reject with `ThreadTerminated`, `ThreadNotFound`.
 */

import type { GetMessagesOptions, MessagePage } from '../../core/author/thread-message.ts';
import type { AttachmentRef, Message } from '../../core/message/message.ts';

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

export interface MessageStore {
  /** A page of the thread's messages, pending ones after stored ones; oldest first by default. */
  list(threadId: string, options?: GetMessagesOptions): Promise<MessagePage>;
  /** The newest stored messages of depth 0, including silent ones, oldest first: as many as a tool may be shown. */
  recent(threadId: string): Promise<readonly Message[]>;
  /** A stored or pending message; null if there is none. */
  get(threadId: string, id: string): Promise<Message | null>;
  /** Stores a message that code has made; the same id again returns the existing one. */
  inject(threadId: string, message: InjectedMessage): Promise<Message>;
  /** Rejects with `MessageNotFound`. */
  update(threadId: string, id: string, updates: StoredMessageUpdates): Promise<Message>;
  /** False if there is none. Rejects with `MessageConflict` if a call of it has no result yet. */
  delete(threadId: string, id: string): Promise<boolean>;
}
