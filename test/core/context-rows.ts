/** Stored messages for the tests of context assembly, and the assembly itself, as a step does it. */
import {
  type Choice,
  type ContextMessage,
  chooseMessages,
  pairResults,
} from '../../src/core/context/context.ts';
import { toProviderMessage } from '../../src/core/context/context-provider.ts';
import { sanitiseHistory } from '../../src/core/context/sanitise.ts';
import type { ProviderMessage } from '../../src/core/message/provider.ts';
import { aMessage, someCalls } from './sample.ts';

/** Assembles a context without hooks and attachments. */
export function assemble(
  messages: readonly ContextMessage[],
  options: Partial<Choice> = {},
): ProviderMessage[] {
  const choice = { executionId: 'now', includeChat: true, includePastTools: true, ...options };
  const chosen = pairResults(chooseMessages(messages, choice));
  return sanitiseHistory(chosen.map((message) => toProviderMessage(message, { pictures: new Map() })));
}

/** One line per message: enough to see order and pairing. */
export function lines(messages: readonly ProviderMessage[]): string[] {
  return messages.map((message) => {
    if (message.role === 'tool') return `tool ${message.toolCallId}: ${message.content}`;
    const asked =
      message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => ` ->${id}`).join('') : '';
    return `${message.role}: ${message.content ?? ''}${asked}`;
  });
}

export const user = (content: string, fields: Partial<ContextMessage> = {}) =>
  aMessage({ role: 'user', content, ...fields });
export const says = (content: string | null, fields: Partial<ContextMessage> = {}) =>
  aMessage({ role: 'assistant', content, ...fields });
export const asks = (step: number, callIds: readonly string[], fields: Partial<ContextMessage> = {}) =>
  says(null, { step, tool_calls: someCalls(...callIds.map((id) => [id, 'look'] as const)), ...fields });
export const result = (step: number, callId: string, content: string, fields: Partial<ContextMessage> = {}) =>
  aMessage({
    role: 'tool',
    name: 'look',
    content,
    step,
    tool_call_id: callId,
    tool_status: 'success',
    ...fields,
  });
