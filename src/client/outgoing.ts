/**
 * What a client sends: payloads checked before they leave, large content put into the store first (decisions:
 * our client signals content above 4 KiB by its id).
 */
import { randomUUID } from 'node:crypto';
import { RuntimeError } from '../core/error.ts';
import { isItemId, itemBytes, type MessageItem } from '../core/item.ts';
import { LIMITS } from '../core/limit.ts';
import type { ThreadStore } from '../store/port.ts';
import type { MessagePayload } from '../workflows/messages.ts';

export interface OutgoingMessage {
  /** Makes sending idempotent: the same id is stored once. 1 to 64 visible ASCII characters; made when absent. */
  readonly id?: string;
  /** `user` (default): the agent answers. `assistant`: recorded as its own words. */
  readonly role?: 'user' | 'assistant';
  readonly content: string;
  /** Hidden from ordinary lists; the model sees it. */
  readonly silent?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export type SentPayload = MessagePayload & { readonly id: string };

/** Throws `InvalidMessage` or `MessageTooLarge`; nothing has been sent then. */
export async function prepareMessage(
  store: ThreadStore,
  threadId: string,
  message: OutgoingMessage,
): Promise<SentPayload> {
  const { id = randomUUID(), role = 'user', content, silent, metadata } = message;
  if (!isItemId(id)) {
    throw new RuntimeError(
      'InvalidMessage',
      `A message's id must be 1 to ${LIMITS.idChars} visible ASCII characters.`,
    );
  }
  if (typeof content !== 'string' || content.length === 0) {
    throw new RuntimeError('InvalidMessage', `The message for thread "${threadId}" has no content.`);
  }
  if (role !== 'user' && role !== 'assistant') {
    throw new RuntimeError(
      'InvalidMessage',
      `A message's role is "user" or "assistant", not "${String(role)}".`,
    );
  }
  const item: MessageItem = { kind: 'message', id, role, content, silent, metadata };
  const bytes = itemBytes(item);
  if (bytes > LIMITS.contentBytes) {
    throw new RuntimeError(
      'MessageTooLarge',
      `The message for thread "${threadId}" has ${bytes} bytes; at most ${LIMITS.contentBytes} are taken.`,
    );
  }
  if (bytes <= LIMITS.clientInlineBytes) {
    return { id, role, content, ...(silent ? { silent } : {}), ...(metadata ? { metadata } : {}) };
  }
  await store.stageItem(threadId, item);
  return { id, role, stored: true };
}
