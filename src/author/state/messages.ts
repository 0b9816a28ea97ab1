/**
 * ThreadState's messages (definitions §14.2): validates them, stores their attachments as files of the thread, runs the
 * project's hooks, and writes them to the store.
 */

import { checkMessagePage } from '../../core/author/read-options.ts';
import type {
  MessageAttachment,
  MessageUpdates,
  NewMessage,
  QueuedMessage,
  ThreadMessages,
} from '../../core/author/thread-message.ts';
import { fillMessage, type Message, type ToolAttachment } from '../../core/message/message.ts';
import { checkFields, checkSize, pickFields } from '../../core/message/message-fields.ts';
import { itemBytes, type MessageItem } from '../../core/thread/item.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { ThreadStore } from '../../store/store.ts';
import { type AttachmentTarget, storeAttachments } from './attachments.ts';
import type { CallerContext } from './caller-context.ts';
import type { ThreadEnv } from './thread-env.ts';

export interface MessagesInput {
  readonly store: ThreadStore;
  readonly caller: CallerContext;
  readonly nextId: () => string;
  readonly redactKnown: ThreadEnv['redactKnown'];
}

export function createMessages(input: MessagesInput): ThreadMessages {
  const { store, caller } = input;
  const threadId = caller.thread.id;
  return {
    getMessages: async (options) => store.messages.list(threadId, checkMessagePage(options)),
    getMessage: async (id) => store.messages.get(threadId, String(id)),
    injectMessage: (message) => injectMessage(input, message),
    updateMessage: (id, updates) => updateMessage(input, String(id), updates),
    deleteMessage: async (id) => store.messages.delete(threadId, String(id)),
    queueMessage: (message) => queueMessage(input, message),
  };
}

async function injectMessage(input: MessagesInput, given: NewMessage): Promise<Message> {
  const { store, caller } = input;
  const { thread, execution, hooks } = caller;
  const id = input.nextId();
  const message = redactMessage(given, input.redactKnown);
  const created = await hooks.beforeCreate({
    ...toMessage(id, message, caller),
    attachments: await storeAttachments(targetOf(input), message.attachments),
    parent_id: execution?.subprompt?.parentId ?? null,
    depth: execution?.subprompt?.depth ?? 0,
  });
  const executionId = execution?.executionId ?? null;
  const stored = await store.messages.inject(thread.id, { ...created, executionId });
  await hooks.afterCreate(stored);
  return stored;
}

async function updateMessage(input: MessagesInput, id: string, given: MessageUpdates): Promise<Message> {
  const { store, caller, redactKnown } = input;
  const { thread, hooks } = caller;
  const { attachments, ...others } = redactMessage(checkUpdates(given), redactKnown);
  const resolved = attachments ? { attachments: await storeAttachments(targetOf(input), attachments) } : {};
  const updates = await hooks.beforeUpdate(id, { ...others, ...resolved });
  const stored = await store.messages.update(thread.id, id, updates);
  await hooks.afterUpdate(stored);
  return stored;
}

async function queueMessage(input: MessagesInput, given: QueuedMessage): Promise<void> {
  const { caller } = input;
  caller.life.signal.throwIfAborted();
  const id = input.nextId();
  const message = redactMessage(given, input.redactKnown);
  const { role = 'user', attachments, ...fields } = message;
  const { content } = fields;
  if (!QUEUED_ROLES.includes(role))
    throw invalid(`A queued message's role must be user or assistant, not ${String(role)}.`);
  const { metadata } = toMessage(id, { role, ...fields }, caller);
  if (content === '' && !attachments?.length)
    throw invalid('A queued message must have content or attachments.');
  const files = await storeAttachments(targetOf(input), attachments);
  const item: MessageItem = {
    kind: 'message',
    id,
    role,
    ...pickFields(fields),
    content,
    metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
    attachments: files.length > 0 ? files : undefined,
  };
  checkSize(itemBytes(item));
  await caller.work.queueMessage(item);
}

function targetOf({ store, caller, nextId }: MessagesInput): AttachmentTarget {
  const { thread, reachedFrom = thread.id } = caller;
  return { store, threadId: thread.id, nextId, ...(reachedFrom === thread.id ? {} : { from: reachedFrom }) };
}

/** Redacts a message, but not the content of new attachments: it is the author's own, and redaction would damage it. */
function redactMessage<T extends MessageUpdates>(message: T, redactKnown: ThreadEnv['redactKnown']): T {
  if (typeof message !== 'object' || message === null) throw invalid('A message must be an object.');
  const { attachments } = message;
  if (!Array.isArray(attachments)) return redactKnown({ ...message });
  const given: readonly MessageAttachment[] = attachments;
  const shown = redactKnown({ ...message, attachments: given.map(withoutData) });
  return { ...shown, attachments: shown.attachments.map((each, index) => withDataOf(given[index], each)) };
}

function withoutData(attachment: MessageAttachment): MessageAttachment {
  return hasData(attachment) ? { ...attachment, data: '' } : attachment;
}

function withDataOf(given: MessageAttachment | undefined, shown: MessageAttachment): MessageAttachment {
  return hasData(given) && hasData(shown) ? { ...shown, data: given.data } : shown;
}

/** Checks at run time, since authors may write untyped code. */
function hasData(attachment: MessageAttachment | undefined): attachment is ToolAttachment {
  return typeof attachment === 'object' && attachment !== null && 'data' in attachment;
}

const ROLES: readonly unknown[] = ['system', 'user', 'assistant'];
/** A queued message is a turn in the conversation; system messages can only be injected. */
const QUEUED_ROLES: readonly unknown[] = ['user', 'assistant'];

function toMessage(
  id: string,
  { role, ...fields }: Omit<NewMessage, 'attachments'>,
  { metadata: told }: CallerContext,
): Message {
  if (!ROLES.includes(role))
    throw invalid(`A message's role must be system, user or assistant, not ${String(role)}.`);
  const checked = checkFields({ ...fields, content: requireText(fields.content) });
  return fillMessage({ id, role, ...checked, metadata: { ...checked.metadata, ...told } });
}

/** Validates the fields that may change, and drops all others. */
function checkUpdates(updates: MessageUpdates): MessageUpdates {
  if (typeof updates !== 'object' || updates === null)
    throw invalid('The updates of a message must be an object.');
  const { attachments, ...fields } = updates;
  return { ...checkFields(fields), ...(attachments === undefined ? {} : { attachments }) };
}

/** Stored messages without a text have null; a new message must have a text. */
function requireText(content: unknown): string {
  if (typeof content === 'string') return content;
  throw invalid("A message's content must be a string.");
}

function invalid(message: string): RuntimeError {
  return new RuntimeError('InvalidMessage', message);
}
