/** Parses messages of A2A clients, and their configuration. A part that is not understood is refused, not dropped. */
import { z } from '@hono/zod-openapi';
import type { OutgoingMessage } from '../../../client/outgoing.ts';
import { readMessage, toItemId } from '../conversation/conversation.ts';
import { BYTES, type GivenPart, toDataUrl } from '../conversation/given-message.ts';
import type { CopyFiles } from '../conversation/own-files.ts';
import { refuseRequest } from '../problem.ts';
import { optionalField, optionalText } from '../schema/optional-field.ts';
import { parseFileAddress } from '../signed-address.ts';

/** In ProtoJSON an empty id means that there is none. */
const id = z
  .string()
  .nullish()
  .transform((text) => text || undefined);

const part = z.object({
  text: optionalText,
  /** Base64. */
  raw: optionalField(z.base64()),
  url: optionalText,
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

interface OutgoingTerms {
  readonly threadId: string;
  readonly copy: CopyFiles;
}

/** Throws `InvalidRequest`. */
export async function toOutgoing(
  { messageId, parts }: SentMessage,
  { threadId, copy }: OutgoingTerms,
): Promise<OutgoingMessage & { readonly id: string }> {
  const id = toItemId(messageId, 'm');
  const [given] = await copy([{ role: 'user', parts: parts.map(toPart) }]);
  return { ...readMessage(given ?? { role: 'user', parts: [] }, threadId), id };
}

/** A URL becomes text and is not fetched, unless it is the address of a file of ours; data become JSON text. */
function toPart({ text, raw, url, data, mediaType: mimeType, filename: name }: Part): GivenPart {
  const kinds = [text, raw, url, data].filter((value) => value !== undefined);
  if (kinds.length !== 1) refuseRequest('A part must have exactly one of "text", "raw", "url" and "data".');
  if (url !== undefined && parseFileAddress(url)) return { kind: 'file', type: 'url', url, mimeType, name };
  if (raw === undefined) return { kind: 'text', text: text ?? url ?? JSON.stringify(data) };
  return { kind: 'file', type: 'raw', url: toDataUrl(raw), mimeType: mimeType ?? BYTES, name };
}
