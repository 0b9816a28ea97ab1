/**
 * Converts what is sent to threads into equivalent JSON: bytes become base64, and values that JSON would change are
 * refused before anything is sent.
 */
import { checkFields, pickFields } from '../../core/message/message-fields.ts';
import { toBase64 } from '../../core/value/base64.ts';
import { copyBytes } from '../../core/value/bytes.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { toJsonObject } from '../../core/value/json-value.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { StartMessage } from '../outgoing.ts';
import type { OutgoingAttachment } from '../outgoing-file.ts';
import { outputField } from '../outgoing-output.ts';
import type { StartThread } from '../start-options.ts';

/** Throws `InvalidMessage`, `InvalidValue`, `LimitExceeded`. */
export function messageJson(message: StartMessage): object {
  if (typeof message !== 'object' || message === null)
    throw new RuntimeError('InvalidMessage', 'A message must be an object.');
  const { attachments, metadata, output, ...rest } = message;
  return {
    ...rest,
    ...checkFields(pickFields({ metadata })),
    ...outputField(output),
    ...(attachments === undefined ? {} : { attachments: attachments.map(attachmentJson) }),
  };
}

function attachmentJson(attachment: OutgoingAttachment): unknown {
  if (typeof attachment !== 'object' || attachment === null || typeof attachment.data === 'string')
    return attachment;
  return { ...attachment, data: toBase64(copyBytes(attachment.data)) };
}

/** Throws `InvalidValue`, `LimitExceeded`. */
export function startJson({ messages = [], arguments: given, ...rest }: StartThread): object {
  const bound = { name: 'arguments', maxBytes: LIMITS.startArgumentBytes };
  return {
    ...rest,
    ...(given == null ? {} : { arguments: toJsonObject(given, bound) }),
    messages: messages.map(messageJson),
  };
}

/** 32 hex digits. Pages that were loaded without TLS have no `crypto.randomUUID`. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Reads the content as fast as it is sent. Not every browser can create a stream from an iterable. */
export function toStream(content: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const parts = content[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await parts.return?.();
    },
  });
}
