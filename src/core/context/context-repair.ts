/**
 * Establishes what providers require of a history, whatever the thread or its hooks made of it (definitions §12.2).
 * R1. Every assistant message with tool calls is followed at once by exactly one result per call, in call order. A missing
 *     result is replaced by a failed one and an orphan is dropped: providers reject either in every later request, and one rejection
 *     would make the thread unusable.
 * R2. A result belongs to the last message before it that makes a call with its id.
 * R3. Repairing what was repaired changes nothing.
 */
import type { ProviderMessage, ProviderToolCall } from '../message/provider.ts';

export const NO_RESULT = 'Failed to execute tool: no result was recorded for this call.';

type ToolMessage = Extract<ProviderMessage, { role: 'tool' }>;

interface Slot {
  readonly call: ProviderToolCall;
  result?: ToolMessage;
}

export function repairToolSequences(messages: readonly ProviderMessage[]): ProviderMessage[] {
  const slots = fillSlots(messages);
  return messages.flatMap((message): ProviderMessage[] => {
    if (message.role === 'tool') return [];
    const results = (slots.get(message) ?? []).map(({ call: { id, name }, result }): ProviderMessage => {
      if (result) return { ...result, toolName: name };
      return { role: 'tool', toolCallId: id, toolName: name, content: NO_RESULT };
    });
    return [message, ...results];
  });
}

/** The calls of each message with their results (R2). */
function fillSlots(messages: readonly ProviderMessage[]): Map<ProviderMessage, readonly Slot[]> {
  const slots = new Map<ProviderMessage, readonly Slot[]>();
  const latest = new Map<string, readonly Slot[]>();
  for (const message of messages) {
    if (message.role === 'tool') {
      const open = latest.get(message.toolCallId)?.find(({ result }) => result === undefined);
      if (open) open.result = message;
    } else if (message.role === 'assistant' && message.toolCalls) {
      const made = message.toolCalls.map((call): Slot => ({ call }));
      slots.set(message, made);
      for (const { call } of made) {
        const same = made.filter((each) => each.call.id === call.id);
        latest.set(call.id, same);
      }
    }
  }
  return slots;
}

/** Providers also reject assistant messages with neither text nor calls. */
export function dropEmpty(messages: readonly ProviderMessage[]): ProviderMessage[] {
  return messages.filter(
    (message) =>
      message.role !== 'assistant' ||
      (message.toolCalls?.length ?? 0) > 0 ||
      (message.content ?? '').trim().length > 0,
  );
}
