/**
 * The hooks around messages (definitions §9): before and after one is created, before and after one is changed.
 * - Before a message is created, its content, silent, metadata and attachments may change. So may the role of a
 *   message that code or a person has written. Its id, its calls and its time stay, whatever a hook returns.
 * - Attachments that a hook adds are stored, or looked up, like those of any message.
 * - Secrets that a hook has read are removed from what it returns.
 */
import type { ChangedMessage, Message, MessageRole } from '../../core/message/message.ts';
import { type AttachmentTarget, storeAttachments } from '../state/attachments.ts';
import type { ThreadEnv } from '../state/thread-env.ts';
import type { HookChain } from './chain.ts';
import type { MessageHooks } from './message-hook-port.ts';
import { type MessageChanges, readChanges } from './returned.ts';

/** Roles of messages that a person or code writes. */
const WRITTEN: readonly MessageRole[] = ['user', 'assistant', 'system'];

export interface RowOptions {
  /** True if a hook may change its role. */
  readonly written?: boolean;
  /** True if the error of a hook is thrown. */
  readonly strict?: boolean;
}

export interface RowHooks {
  /** Runs the hooks before a message that the running execution is about to store. */
  beforeRow(message: Message, options?: RowOptions): Promise<Message>;
  /** The hooks around what code writes through its ThreadState. */
  readonly messages: MessageHooks;
}

export interface MessageHookOptions {
  readonly chain: HookChain;
  readonly files: AttachmentTarget;
  readonly redactKnown: ThreadEnv['redactKnown'];
}

export function createMessageHooks(options: MessageHookOptions): RowHooks {
  const { chain } = options;
  return {
    beforeRow: (message, row) => beforeRow(options, message, row),
    messages: {
      beforeCreate: (message) => beforeRow(options, message, { written: true, strict: true }),
      afterCreate: (message) => observe(chain, 'after_create_message', message),
      beforeUpdate: (id, updates) =>
        chain.run('before_update_message', updates, {
          give: (current) => [id, current],
          take: (current, returned) => takeUpdates(options, current, returned),
        }),
      afterUpdate: (message) => observe(chain, 'after_update_message', message),
    },
  };
}

async function beforeRow(
  options: MessageHookOptions,
  message: Message,
  { written, strict }: RowOptions = {},
): Promise<Message> {
  // An item has its time; any other message is not stored yet.
  const created_at = message.created_at || Date.now() * 1000;
  return options.chain.run('before_create_message', message, {
    strict,
    give: (row) => [{ ...row, created_at }],
    async take(row, returned) {
      if (returned === undefined || returned === null) return row;
      const changes = readChanges(returned, written ? WRITTEN : []);
      const { attachments, ...fields } = changes;
      const files =
        'attachments' in changes
          ? await storeReturned(options, attachments, row.attachments)
          : row.attachments;
      return { ...row, ...options.redactKnown(fields), attachments: files };
    },
  });
}

async function takeUpdates(
  options: MessageHookOptions,
  current: ChangedMessage,
  returned: unknown,
): Promise<ChangedMessage> {
  if (returned === undefined || returned === null) return current;
  const { redactKnown } = options;
  const { attachments, content, role: _, ...fields } = readChanges(returned);
  const files = attachments ? await storeReturned(options, attachments, current.attachments) : undefined;
  return {
    ...redactKnown({ ...fields, ...(typeof content === 'string' ? { content } : {}) }),
    ...(attachments === undefined ? {} : { attachments: files ?? [] }),
  };
}

/** Attachments that a hook adds. */
async function storeReturned(
  { files, redactKnown }: MessageHookOptions,
  attachments: MessageChanges['attachments'],
  before: Message['attachments'] | undefined,
): Promise<Message['attachments']> {
  if (attachments === undefined || attachments === null) return null;
  // Most hooks return the attachments that they received.
  if (JSON.stringify(attachments) === JSON.stringify(before)) return before ?? null;
  const stored = await storeAttachments(files, redactKnown(attachments));
  return stored.length > 0 ? stored : null;
}

async function observe(
  chain: HookChain,
  name: 'after_create_message' | 'after_update_message',
  message: Message,
): Promise<void> {
  await chain.run(name, message, { give: (stored) => [stored], take: (stored) => stored });
}
