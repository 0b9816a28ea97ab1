/** The part of ThreadState for messages (definitions §14.2, §15). */
import type { AttachmentRef, Message, ToolAttachment } from '../message/message.ts';

export interface GetMessagesOptions {
  /** Maximum number of messages; default 100, the newest. */
  readonly limit?: number;
  readonly offset?: number;
  /** `asc` (default): oldest first. `desc`: newest first. */
  readonly order?: 'asc' | 'desc';
  readonly includeSilent?: boolean;
  /** Messages of sub-prompts down to this depth; default 0, none. */
  readonly maxDepth?: number;
  /** If true, the messages that were superseded, in place of the history. */
  readonly superseded?: boolean;
}

export interface MessagePage {
  readonly messages: Message[];
  readonly total: number;
  readonly hasMore: boolean;
}

/** A file to attach: new content, a file of this thread, or its path. */
export type MessageAttachment = ToolAttachment | AttachmentRef | string;

export interface NewMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
  readonly attachments?: readonly MessageAttachment[];
  readonly silent?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface QueuedMessage extends Omit<NewMessage, 'role'> {
  /** `user` (default): side A answers. */
  readonly role?: 'user' | 'assistant';
}

/** What `updateMessage` may change. `metadata` is merged with the stored one; a key set to null is removed. */
export interface MessageUpdates {
  readonly content?: string;
  readonly silent?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly attachments?: readonly MessageAttachment[];
}

export interface ThreadMessages {
  /** Stored and pending messages; pending ones carry `metadata.queued: true`. Rejects with `InvalidValue` for options of a wrong shape. */
  getMessages(options?: GetMessagesOptions): Promise<MessagePage>;
  /** Includes silent and pending messages; null when there is none. */
  getMessage(id: string): Promise<Message | null>;
  /**
   * Stores a message now, and starts no work. Rejects with `ThreadTerminated`, `InvalidMessage`, `FileNotFound` (for an
   * attachment), `InvalidValue` or `LimitExceeded` (for metadata), or with the error of a `before_create_message` hook: nothing is stored then.
   */
  injectMessage(message: NewMessage): Promise<Message>;
  /**
   * Changes a stored message. Rejects with `MessageNotFound` (also while it is still queued),
   * `ThreadTerminated`, `InvalidMessage`, `InvalidValue`, `LimitExceeded` or `FileNotFound`. Repeating an update changes nothing.
   */
  updateMessage(id: string, updates: MessageUpdates): Promise<Message>;
  /**
   * Removes a message with its attachments' files under /attachments that no other message names, the results of its tool
   * calls, and the messages of sub-prompts below those. A queued message leaves the queue. False when there is none. Rejects
   * with `ThreadTerminated`, or with `MessageConflict` while its tool calls have no results.
   */
  deleteMessage(id: string): Promise<boolean>;
  /**
   * Durable FIFO: enters the thread before the next model call; wakes an idle thread (runtime §9). Resolves once stored.
   * Rejects with `ThreadTerminated`, `InvalidMessage`, `InvalidValue` or `LimitExceeded` (for metadata), `MessageTooLarge` or
   * `FileNotFound`.
   */
  queueMessage(message: QueuedMessage): Promise<void>;
}
