/**
 * Converts stored messages into provider messages (definitions §12.3, §15.5): roles, calls, attachments, reasoning. The
 * same for every model of a step; `withoutImages` then removes what a model cannot take.
 */

import { type Digest, openParts } from '../message/answer-parts.ts';
import type { ContentPart, ProviderMessage } from '../message/provider.ts';
import type { ReasoningDetail } from '../message/provider-terms.ts';
import { toProviderCall } from '../message/tool-call.ts';
import { type ContextMessage, parseCalls } from './context.ts';
import { type Pictures, type ShownAttachments, showAttachments } from './context-attachment.ts';

export interface ProviderView {
  readonly pictures: Pictures;
  /** The prompt whose own reasoning is sent again (`reasoning.include`); absent if it does not request that. */
  readonly reasoningOf?: string;
  /** The running execution: its answers keep what their providers need back in the turn. */
  readonly running?: string;
  readonly digest?: Digest;
}

export function toProviderMessage(message: ContextMessage, view: ProviderView): ProviderMessage {
  const shown = showAttachments(message, view.pictures);
  switch (message.role) {
    case 'system':
      return { role: 'system', content: withLines(message.content, shown) };
    case 'user': {
      const text = withLines(message.content, shown);
      if (shown.images.length === 0) return { role: 'user', content: text };
      return { role: 'user', content: [{ type: 'text', text }, ...shown.images] };
    }
    case 'assistant':
      return fromAssistant(message, shown, view);
    case 'tool':
      return {
        role: 'tool',
        toolCallId: message.tool_call_id ?? '',
        toolName: message.name ?? '',
        content: withLines(message.content, shown),
        ...(shown.images.length > 0 ? { attachments: shown.images } : {}),
      };
  }
}

function fromAssistant(
  message: ContextMessage,
  shown: ShownAttachments,
  { reasoningOf, running, digest }: ProviderView,
): ProviderMessage {
  const text = withLines(message.content, shown);
  const calls = parseCalls(message).map(toProviderCall);
  const own = reasoningOf !== undefined && message.prompt === reasoningOf;
  const goesBack = own || (running !== undefined && message.executionId === running);
  const { content, reasoning } = message;
  const parts =
    goesBack && digest && openParts(message.parts, { content, reasoning, toolCalls: calls }, digest);
  return {
    role: 'assistant',
    content: text.trim().length > 0 ? text : null,
    ...(calls.length > 0 ? { toolCalls: calls } : {}),
    ...(own && message.reasoning ? { reasoning: message.reasoning } : {}),
    ...(goesBack ? detailsOf(message) : {}),
    ...(parts ? { parts } : {}),
  };
}

/** Reasoning details, stored with the answer in the provider's own form. */
function detailsOf({ metadata }: ContextMessage): { reasoningDetails?: readonly ReasoningDetail[] } {
  const details = metadata?.reasoningDetails;
  return Array.isArray(details) && details.length > 0 ? { reasoningDetails: details } : {};
}

/** Adds the file lines, which are not stored: paths are stored once, with the message (definitions §12.4). */
function withLines(content: unknown, { lines }: ShownAttachments): string {
  const text = typeof content === 'string' ? content : '';
  if (lines.length === 0) return text;
  return [...(text ? [text, ''] : []), ...lines].join('\n');
}

const UNSEEN_IMAGE = '[An image was omitted: this model cannot see images.]';

/** For a model that takes no images (runtime §4). Stored messages, and the lines that name the files, stay. */
export function withoutImages(messages: readonly ProviderMessage[]): ProviderMessage[] {
  return messages.map((message) => {
    if (message.role === 'tool') {
      if (!message.attachments?.some(isImage)) return message;
      const { attachments, ...bare } = message;
      const kept = attachments.filter((part) => !isImage(part));
      return kept.length > 0 ? { ...bare, attachments: kept } : bare;
    }
    if (message.role !== 'user' || typeof message.content === 'string') return message;
    if (!message.content.some(isImage)) return message;
    const kept = message.content.filter((part) => !isImage(part));
    return { role: 'user', content: kept.length > 0 ? joinTexts(kept) : UNSEEN_IMAGE };
  });
}

function isImage(part: ContentPart): boolean {
  return (
    part.type === 'image' ||
    part.type === 'image_url' ||
    (part.type === 'file' && part.mediaType.startsWith('image/'))
  );
}

/** Joins parts into a text if all of them are texts: not every chat completions server supports parts. */
function joinTexts(parts: readonly ContentPart[]): string | readonly ContentPart[] {
  const texts = parts.map((part) => (part.type === 'text' ? part.text : undefined));
  return texts.includes(undefined) ? parts : texts.join('\n');
}
