/**
 * Moves images of tool results, for backends whose tool messages can hold only text: the images follow in a user
 * message after the whole group of results, since no message may come between a call and its results.
 */
import type { ContentPart, ProviderMessage } from '../core/message/provider.ts';

type ToolMessage = Extract<ProviderMessage, { role: 'tool' }>;

export function imagesBehindTools(messages: readonly ProviderMessage[]): ProviderMessage[] {
  return messages.flatMap((message, index) => {
    if (message.role !== 'tool') return [message];
    const { attachments: _, ...bare } = message;
    if (messages[index + 1]?.role === 'tool') return [bare];
    return [bare, ...toUserMessages(groupEndingAt(messages, index))];
  });
}

function groupEndingAt(messages: readonly ProviderMessage[], end: number): ToolMessage[] {
  const start = messages.findLastIndex((message, index) => index <= end && message.role !== 'tool') + 1;
  return messages.slice(start, end + 1).filter((message) => message.role === 'tool');
}

function toUserMessages(group: readonly ToolMessage[]): ProviderMessage[] {
  const content = group.flatMap(({ toolName, attachments = [] }): ContentPart[] => {
    if (attachments.length === 0) return [];
    return [{ type: 'text', text: `Images of the result of ${toolName}:` }, ...attachments];
  });
  return content.length > 0 ? [{ role: 'user', content }] : [];
}
