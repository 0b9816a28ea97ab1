/** Converts a user's message to an entry of a task's history. */
import type { Message } from '../../core/message/message.ts';
import type { A2aMessage, A2aPart } from './a2a-shape.ts';

export function toA2aMessage(contextId: string, message: Message): Omit<A2aMessage, 'taskId'> {
  const { id: messageId, content, attachments } = message;
  const text: A2aPart[] = content ? [{ text: content }] : [];
  const files = (attachments ?? []).map(({ path, mimeType, name }) => ({
    url: path,
    mediaType: mimeType,
    filename: name,
  }));
  return { messageId, contextId, role: 'ROLE_USER', parts: [...text, ...files] };
}
