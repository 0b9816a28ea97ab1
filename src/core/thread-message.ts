/** The part of ThreadState that knows messages (definitions §14.2, §15). */
import type { AttachmentRef, Message, ToolAttachment } from './message.ts';

export interface GetMessagesOptions {
  /** How many at most; default 100, the newest. */
  readonly limit?: number;
  readonly offset?: number;
  /** `asc` (default): oldest first. `desc`: newest first. */
  readonly order?: 'asc' | 'desc';
  readonly includeSilent?: boolean;
  /** Messages of sub-prompts down to this depth; default 0, none. */
  readonly maxDepth?: number;
}

export interface MessagePage {
  readonly messages: readonly Message[];
  readonly total: number;
  readonly hasMore: boolean;
}

/** A file that a message names: new content, a file of this thread, or its path. */
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

/** What `updateMessage` may change. `metadata` is merged into what there is; a key set to null is taken out. */
export interface MessageUpdates {
  readonly content?: string;
  readonly silent?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly attachments?: readonly MessageAttachment[];
}

export interface ThreadMessages {
  /** Stored and pending messages; pending ones carry `metadata.queued: true`. */
  getMessages(options?: GetMessagesOptions): Promise<MessagePage>;
  /** Silent and pending ones too; null when there is none. */
  getMessage(id: string): Promise<Message | null>;
  /**
   * Stores a message now; starts nothing. Rejects with `ThreadTerminated`, `InvalidMessage`, `FileNotFound` (an attachment
   * that is not there), or with what a `before_create_message` hook threw: nothing is stored then.
   */
  injectMessage(message: NewMessage): Promise<Message>;
  /**
   * Changes a stored message. Rejects with `MessageNotFound` (also for one that still waits in the queue),
   * `ThreadTerminated`, `InvalidMessage` or `FileNotFound`. The same update again changes nothing.
   */
  updateMessage(id: string, updates: MessageUpdates): Promise<Message>;
  /**
   * Removes a message with its attachments' files under /attachments that no other message names, the results of its tool
   * calls, and what sub-prompts said below those. A message that still waits is taken out of the queue. False when there is none. Rejects
   * with `ThreadTerminated`, or with `MessageConflict` for one whose tool calls have no results yet.
   */
  deleteMessage(id: string): Promise<boolean>;
  /**
   * Durable FIFO: injected before the next model call; wakes an idle thread (runtime §9). Resolves once stored. Rejects
   * with `ThreadTerminated`, `InvalidMessage`, `MessageTooLarge` or `FileNotFound`.
   */
  queueMessage(message: QueuedMessage): Promise<void>;
}
