/**
 * Keeps the fields of a message that the provider contract defines, and removes all others: a provider is foreign code,
 * which may forward whatever it receives, and a hook or an import may have added anything.
 */
import type { ContentPart, ProviderMessage } from '../message/provider.ts';
import type { ProviderToolCall } from '../message/provider-terms.ts';

type FieldsOf<Union, Tag extends keyof Union> = {
  readonly [Value in Union[Tag] & string]: readonly (keyof Extract<
    Union,
    { readonly [Key in Tag]: Value }
  >)[];
};

const MESSAGE: FieldsOf<ProviderMessage, 'role'> = {
  system: ['role', 'content'],
  user: ['role', 'content'],
  assistant: ['role', 'content', 'toolCalls', 'reasoning', 'reasoningDetails', 'parts'],
  tool: ['role', 'toolCallId', 'toolName', 'content', 'attachments'],
};

const PART: FieldsOf<ContentPart, 'type'> = {
  text: ['type', 'text'],
  image: ['type', 'data', 'mediaType', 'detail'],
  image_url: ['type', 'image_url'],
  file: ['type', 'data', 'mediaType', 'filename'],
};

const CALL: readonly (keyof ProviderToolCall)[] = ['id', 'name', 'arguments', 'rawArguments', 'extraContent'];

/** Returns nothing for a message of another role. */
export function keepKnownFields(message: ProviderMessage): readonly ProviderMessage[] {
  if (!Object.hasOwn(MESSAGE, message.role)) return [];
  const kept = pickFields(message, MESSAGE[message.role]);
  switch (kept.role) {
    case 'user':
      return [typeof kept.content === 'string' ? kept : withParts(kept, 'content', kept.content)];
    case 'assistant':
      return [withCalls(kept)];
    case 'tool':
      return [kept.attachments ? withParts(kept, 'attachments', kept.attachments) : kept];
    default:
      return [kept];
  }
}

/** Returns the object itself if no field has to be removed. */
function pickFields<Kept extends object>(given: Kept, fields: readonly PropertyKey[]): Kept {
  const keys = Object.keys(given);
  if (keys.every((key) => fields.includes(key))) return given;
  const known = keys.filter((key) => fields.includes(key));
  return Object.fromEntries(known.map((key) => [key, given[key as keyof Kept]])) as Kept;
}

function withParts<Message extends ProviderMessage>(
  message: Message,
  field: 'content' | 'attachments',
  parts: readonly ContentPart[],
): Message {
  const kept = parts.flatMap((part) =>
    Object.hasOwn(PART, part.type) ? [pickFields(part, PART[part.type])] : [],
  );
  return isSame(kept, parts) ? message : { ...message, [field]: kept };
}

function withCalls(
  message: Extract<ProviderMessage, { role: 'assistant' }>,
): Extract<ProviderMessage, { role: 'assistant' }> {
  const { toolCalls } = message;
  const kept = toolCalls?.map((call) => pickFields(call, CALL));
  return kept && toolCalls && !isSame(kept, toolCalls) ? { ...message, toolCalls: kept } : message;
}

function isSame(kept: readonly unknown[], given: readonly unknown[]): boolean {
  return kept.length === given.length && kept.every((each, index) => each === given[index]);
}
