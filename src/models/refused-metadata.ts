/**
 * A provider may refuse what it asked to have back: a signature that has expired, an item that it forgot, thinking in a
 * place that a newer version does not accept. The request is then sent once without any of it, since the same history
 * would be refused for ever. The running turn's calls and results become text: a provider that insists on its own
 * thinking before a call has no other way to read them.
 */

import { toolText } from '../core/message/llm-message.ts';
import type { ProviderError, ProviderMessage, ProviderRequest } from '../core/message/provider.ts';
import { turnStart } from './running-turn.ts';

type Messages = readonly ProviderMessage[];

const NAMED = /thinking|signature|reasoning|encrypted content|\bitems?\b/i;

/** True if the refusal is about what goes back with answers, and the request has answers. */
export function refusesMetadata(
  { statusCode, message }: ProviderError,
  { messages }: ProviderRequest,
): boolean {
  // OpenAI's status for an item that it does not have.
  const isLost = statusCode === 404 && /item with id/i.test(message);
  if (!isLost && !(statusCode === 400 && NAMED.test(message))) return false;
  return messages.some((each) => each.role === 'assistant' && (hasMetadata(each) || each.toolCalls));
}

type Answer = Extract<ProviderMessage, { role: 'assistant' }>;

function hasMetadata({ parts, reasoning, reasoningDetails, toolCalls = [] }: Answer): boolean {
  const isExtra = toolCalls.some(({ extraContent }) => extraContent !== undefined);
  return Boolean(parts || reasoning || reasoningDetails || isExtra);
}

export function withoutMetadata(request: ProviderRequest): ProviderRequest {
  const messages = request.messages.map(withoutOwn);
  const turn = turnStart(messages);
  return { ...request, messages: [...messages.slice(0, turn), ...asText(messages.slice(turn))] };
}

function withoutOwn(message: ProviderMessage): ProviderMessage {
  if (message.role !== 'assistant') return message;
  const { role, content, toolCalls } = message;
  const calls = toolCalls?.map(({ extraContent: _, ...call }) => call);
  return { role, content, ...(calls && { toolCalls: calls }) };
}

/** Each answer's text, then its calls with their results as a user's message, which every provider accepts there. */
function asText(turn: Messages): ProviderMessage[] {
  return turn.flatMap((message, at): ProviderMessage[] => {
    if (message.role === 'tool') return [];
    if (message.role !== 'assistant' || !message.toolCalls) return [message];
    const results = turn.slice(at + 1).filter((each) => each.role === 'tool');
    const lines = message.toolCalls.map(({ id, name, arguments: given, rawArguments }) => {
      const result = results.find(({ toolCallId }) => toolCallId === id);
      const text = result ? toolText(result.content) : 'no result';
      return `The tool "${name}" was called with ${rawArguments ?? JSON.stringify(given)}. Its result: ${text}`;
    });
    const files = results.flatMap(({ attachments = [] }) => attachments);
    const told = lines.join('\n\n');
    const said: ProviderMessage[] =
      message.content === null ? [] : [{ role: 'assistant', content: message.content }];
    return [
      ...said,
      { role: 'user', content: files.length === 0 ? told : [{ type: 'text', text: told }, ...files] },
    ];
  });
}
