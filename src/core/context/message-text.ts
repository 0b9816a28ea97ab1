/** The texts of provider messages: to measure and to shorten them. The arguments of calls are not among them. */
import type { ContentPart, ProviderMessage } from '../message/provider.ts';
import { utf8Length } from '../value/limit.ts';
import { withoutImages } from './context-provider.ts';

type Content = ProviderMessage['content'];

/** Texts of a message, in their order. */
export function textsOf({ content }: ProviderMessage): string[] {
  if (content === null) return [];
  if (typeof content === 'string') return [content];
  if (Array.isArray(content)) return content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return ['error' in content ? content.error : 'text' in content ? content.text : ''];
}

/**
 * The message with each of its texts replaced. An answer that is changed loses what its provider wants back with it: that belongs to
 * the answer as it was.
 */
export function mapTexts(message: ProviderMessage, change: (text: string) => string): ProviderMessage {
  const content = mapContent(message.content, change);
  if (message.role !== 'assistant') return { ...message, content } as ProviderMessage;
  const { parts: _, reasoningDetails: _details, ...bare } = message;
  return { ...bare, content: content as string | null };
}

function mapContent(content: Content, change: (text: string) => string): Content {
  if (content === null) return null;
  if (typeof content === 'string') return change(content);
  if (isParts(content))
    return content.map((part) => (part.type === 'text' ? { ...part, text: change(part.text) } : part));
  return 'error' in content
    ? { ...content, error: change(content.error) }
    : { ...content, text: change(content.text) };
}

function isParts(content: Exclude<Content, string | null>): content is readonly ContentPart[] {
  return Array.isArray(content);
}

/** Images and files of a message. */
export function partsOf(message: ProviderMessage): readonly ContentPart[] {
  if (message.role === 'tool') return message.attachments ?? [];
  const { content } = message;
  return Array.isArray(content) ? content.filter(({ type }) => type !== 'text') : [];
}

export function withoutParts(message: ProviderMessage): ProviderMessage {
  return partsOf(message).length === 0 ? message : (withoutImages([message])[0] as ProviderMessage);
}

/** Bytes of the texts, images and calls of a message in a request. */
export function bytesOf(message: ProviderMessage): number {
  const texts = textsOf(message).reduce((sum, text) => sum + utf8Length(text), 0);
  const parts = partsOf(message).reduce((sum, part) => sum + JSON.stringify(part).length, 0);
  const calls =
    message.role === 'assistant' ? bytesOfJson(message.toolCalls) + bytesOfJson(message.parts) : 0;
  return texts + parts + calls + AROUND_BYTES;
}

const AROUND_BYTES = 50;

function bytesOfJson(value: unknown): number {
  return value === undefined ? 0 : utf8Length(JSON.stringify(value));
}
