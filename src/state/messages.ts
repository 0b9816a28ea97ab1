/**
 * ThreadState's messages (definitions §14.2): checked, with their attachments as files of the thread, through the project's
 * hooks, into the store.
 */
import { RuntimeError } from '../core/error.ts';
import { itemBytes, type MessageItem } from '../core/item.ts';
import { LIMITS, utf8Length } from '../core/limit.ts';
import type { MessageUpdates, NewMessage, ThreadMessages } from '../core/thread-message.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import { storeAttachments } from './attachments.ts';
import type { ThreadEnv } from './env.ts';
import type { DraftMessage, StateOrigin } from './origin.ts';

export interface MessagesInput {
  readonly store: ThreadStore;
  readonly origin: StateOrigin;
  readonly nextId: () => string;
  readonly redactKnown: ThreadEnv['redactKnown'];
}

export function createMessages({ store, origin, nextId, redactKnown }: MessagesInput): ThreadMessages {
  const { thread, execution, hooks, work } = origin;
  const place = { store, threadId: thread.id, nextId };
  const subprompt = execution?.subprompt ?? null;
  return {
    getMessages: (options) => store.getMessages(thread.id, options),
    getMessage: (id) => store.getMessage(thread.id, id),
    async injectMessage(given) {
      const id = nextId();
      const message = redactMessage(given, redactKnown);
      const draft = await hooks.beforeCreate({
        ...toDraft(id, message, origin),
        attachments: await storeAttachments(place, message.attachments),
        parent_id: subprompt?.parentId ?? null,
        depth: subprompt?.depth ?? 0,
      });
      const stored = await store.injectMessage(thread.id, {
        id,
        role: draft.role as NewMessage['role'],
        content: draft.content,
        attachments: draft.attachments ?? [],
        silent: draft.silent,
        metadata: draft.metadata,
        executionId: execution?.executionId ?? null,
        parentId: draft.parent_id,
        depth: draft.depth,
      });
      await hooks.afterCreate(stored);
      return stored;
    },
    async updateMessage(id, given) {
      checkUpdates(given);
      const updates = redactMessage(given, redactKnown);
      const { attachments, ...others } = updates;
      const resolved = attachments ? { attachments: await storeAttachments(place, attachments) } : {};
      const stored = await store.updateMessage(
        thread.id,
        id,
        await hooks.beforeUpdate(id, { ...others, ...resolved }),
      );
      await hooks.afterUpdate(stored);
      return stored;
    },
    deleteMessage: (id) => store.deleteMessage(thread.id, id),
    async queueMessage(given) {
      const id = nextId();
      const { role = 'user', content, silent, metadata, attachments } = redactMessage(given, redactKnown);
      const { metadata: told } = toDraft(id, { role, content, silent, metadata }, origin);
      const files = await storeAttachments(place, attachments);
      const item: MessageItem = {
        kind: 'message',
        id,
        role,
        content,
        ...(silent ? { silent } : {}),
        ...(Object.keys(told).length > 0 ? { metadata: told } : {}),
        ...(files.length > 0 ? { attachments: files } : {}),
      };
      checkSize(itemBytes(item));
      await work.queueMessage(item);
    },
  };
}

/** The content of a new attachment is left: it is the author's own affair, and would be harmed. */
function redactMessage<T extends MessageUpdates>(message: T, redactKnown: ThreadEnv['redactKnown']): T {
  if (typeof message !== 'object' || message === null) throw invalid('A message is an object.');
  const { attachments, ...others } = message;
  if (!Array.isArray(attachments)) return { ...redactKnown(others), attachments } as unknown as T;
  const shown = attachments.map((each) =>
    typeof each === 'object' && each !== null && 'data' in each
      ? { ...redactKnown({ ...each, data: '' }), data: each.data }
      : redactKnown(each),
  );
  return { ...redactKnown(others), attachments: shown } as unknown as T;
}

const ROLES: readonly unknown[] = ['system', 'user', 'assistant'];

function toDraft(
  id: string,
  { role, content, silent, metadata }: Omit<NewMessage, 'attachments'>,
  { metadata: told }: StateOrigin,
): DraftMessage {
  if (!ROLES.includes(role))
    throw invalid(`A message's role is system, user or assistant, not ${String(role)}.`);
  checkFields({ content, silent, metadata });
  return {
    id,
    role,
    content,
    name: null,
    tool_calls: null,
    tool_call_id: null,
    parent_id: null,
    depth: 0,
    silent: silent ?? false,
    metadata: { ...metadata, ...told },
    attachments: null,
  };
}

function checkUpdates(updates: MessageUpdates): void {
  if (typeof updates !== 'object' || updates === null)
    throw invalid('The updates of a message are an object.');
  const { content, silent, metadata } = updates;
  checkFields({ content: content ?? '', silent, metadata });
}

function checkFields({
  content,
  silent,
  metadata,
}: Pick<MessageUpdates, 'content' | 'silent' | 'metadata'>): void {
  if (typeof content !== 'string') throw invalid("A message's content must be a text.");
  checkSize(utf8Length(content));
  if (silent !== undefined && typeof silent !== 'boolean')
    throw invalid("A message's silent is true or false.");
  if (
    metadata !== undefined &&
    (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata))
  ) {
    throw invalid("A message's metadata must be an object.");
  }
}

function checkSize(bytes: number): void {
  if (bytes <= LIMITS.contentBytes) return;
  throw new RuntimeError(
    'MessageTooLarge',
    `The message has ${bytes} bytes; at most ${LIMITS.contentBytes} are taken.`,
  );
}

function invalid(message: string): RuntimeError {
  return new RuntimeError('InvalidMessage', message);
}
