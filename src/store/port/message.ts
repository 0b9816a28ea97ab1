/**
 * The store's messages (definitions §14.2, §15). Attachments are files of the thread by the time they come here.
 * Writes reject with `ThreadTerminated`, `ThreadNotFound`.
 */

import type { GetMessagesOptions, MessagePage } from '../../core/author/thread-message.ts';
import type { AttachmentRef, Message } from '../../core/message/message.ts';

export interface InjectedMessage {
  /** The same id again stores nothing, and answers what is there. */
  readonly id: string;
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string | null;
  readonly attachments?: readonly AttachmentRef[];
  readonly silent?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly executionId: string | null;
  /** Below the top: where a sub-prompt's code put it. */
  readonly parentId?: string | null;
  readonly depth?: number;
}

export interface StoredMessageUpdates {
  readonly content?: string;
  readonly silent?: boolean;
  /** Merged into what there is; a key set to null is taken out. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly attachments?: readonly AttachmentRef[];
}

export interface MessageStore {
  /** A page of the thread's messages, the pending ones after the stored; oldest first unless asked otherwise. */
  list(threadId: string, options?: GetMessagesOptions): Promise<MessagePage>;
  /** The newest stored messages of the thread's own, silent ones too, oldest first: no more than a tool is shown. */
  recent(threadId: string): Promise<readonly Message[]>;
  /** Stored or pending. */
  get(threadId: string, id: string): Promise<Message | null>;
  /** Stores a message of code's own making; the same id again answers the one that is there. */
  inject(threadId: string, message: InjectedMessage): Promise<Message>;
  /** Rejects with `MessageNotFound`. */
  update(threadId: string, id: string, updates: StoredMessageUpdates): Promise<Message>;
  /** False when there is none. Rejects with `MessageConflict` where a call of it has no result yet. */
  delete(threadId: string, id: string): Promise<boolean>;
}
