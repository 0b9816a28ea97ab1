/** What clients of A2A ask: messages and their configuration. What is not understood of a part is refused: nothing is dropped unseen. */
import { createHash } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import type { OutgoingMessage } from '../../../client/outgoing.ts';
import { isItemId } from '../../../core/thread/item.ts';
import { refuseRequest } from '../problem.ts';

const part = z.object({
  text: z.string().optional(),
  /** Base64. */
  raw: z.string().optional(),
  url: z.string().optional(),
  data: z.unknown().optional(),
  mediaType: z.string().optional(),
  filename: z.string().optional(),
});

type Part = z.infer<typeof part>;

const message = z.object({
  messageId: z.string().min(1).max(1000),
  role: z.enum(['ROLE_USER']),
  parts: z.array(part).min(1),
  contextId: z.string().optional(),
  taskId: z.string().optional(),
});

export const sendParams = z.object({
  message,
  configuration: z
    .object({
      historyLength: z.int().min(0).optional(),
      returnImmediately: z.boolean().optional(),
      taskPushNotificationConfig: z.unknown().optional(),
    })
    .optional(),
});

export type SendParams = z.infer<typeof sendParams>;
export type SentMessage = z.infer<typeof message>;

/** An id that a thread's messages can have; the same for the same message. */
export function toItemId(messageId: string): string {
  if (isItemId(messageId)) return messageId;
  return `m-${createHash('sha256').update(messageId).digest('hex').slice(0, 40)}`;
}

/** Throws `InvalidRequest`. */
export function toOutgoing({ messageId, parts }: SentMessage): OutgoingMessage & { readonly id: string } {
  const content = parts.flatMap(toText).join('\n');
  const attachments = parts.flatMap(toAttachment);
  return {
    id: toItemId(messageId),
    content,
    ...(attachments.length > 0 ? { attachments } : {}),
  };
}

/** Nothing is fetched from an address, and data are JSON for whoever reads them. */
function toText(part: Part): string[] {
  const { text, url, data } = part;
  const kinds = [text, part.raw, url, data].filter((value) => value !== undefined);
  if (kinds.length !== 1) refuseRequest('A part has one of "text", "raw", "url" and "data".');
  if (text !== undefined) return text === '' ? [] : [text];
  if (url !== undefined) return [url];
  return data === undefined ? [] : [JSON.stringify(data)];
}

function toAttachment({ raw, mediaType, filename }: Part, n: number) {
  if (raw === undefined) return [];
  return [
    { name: filename ?? `file-${n + 1}`, mimeType: mediaType ?? 'application/octet-stream', data: raw },
  ];
}
