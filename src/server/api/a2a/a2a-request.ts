/** Parses messages of A2A clients, and their configuration. A part that is not understood is refused, not dropped. */
import { createHash } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import type { OutgoingMessage } from '../../../client/outgoing.ts';
import { isItemId } from '../../../core/thread/item.ts';
import { refuseRequest } from '../problem.ts';

/** An optional field: in ProtoJSON null means absent, and so does an empty id. */
const optionalField = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => value ?? undefined, schema.optional());
const id = z
  .string()
  .nullish()
  .transform((text) => text || undefined);

const part = z.object({
  text: optionalField(z.string()),
  /** Base64. */
  raw: optionalField(z.base64()),
  url: optionalField(z.string()),
  data: z.unknown().optional(),
  mediaType: id,
  filename: id,
});

type Part = z.infer<typeof part>;

const message = z.object({
  messageId: z.string().min(1).max(1000),
  /** An enumeration value may be sent as its number. */
  role: z.union([z.literal('ROLE_USER'), z.literal(1)]),
  parts: z.array(part).min(1),
  contextId: id,
  taskId: id,
});

export const sendParams = z.object({
  message,
  configuration: optionalField(
    z.object({
      historyLength: optionalField(z.int().min(0)),
      returnImmediately: optionalField(z.boolean()),
      taskPushNotificationConfig: z.unknown().optional(),
    }),
  ),
});

export type SendParams = z.infer<typeof sendParams>;
export type SentMessage = z.infer<typeof message>;

/** Returns a valid item id; always the same for the same message id. */
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

/** A URL becomes text and is not fetched; data become JSON text. */
function toText(part: Part): string[] {
  const { text, url, data } = part;
  const kinds = [text, part.raw, url, data].filter((value) => value !== undefined);
  if (kinds.length !== 1) refuseRequest('A part must have exactly one of "text", "raw", "url" and "data".');
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
