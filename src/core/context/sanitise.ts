/**
 * Makes a history satisfy what providers require, whatever its thread, an import or hooks have made of it (definitions
 * §12.2). This is the last step before a model is called, and the only repair.
 * - Every assistant message with tool calls is followed at once by exactly one result per call, in call order. A
 *   missing result is replaced by a failed one; an orphan and a second one are dropped. Providers would reject each
 *   of these in every later request, which would make the thread unusable.
 * - A result belongs to the last message before it that makes a call with its id.
 * - Sanitising a sanitised history changes nothing.
 * - Call ids of a message are non-empty and unique: a call without one is dropped, and a later call with the same id
 *   gets a new one.
 * - No assistant message is empty, and no message has a field that the provider contract does not define.
 * - Sanitising takes time linear in the number of messages and calls.
 */
import type { ProviderMessage } from '../message/provider.ts';
import type { ProviderToolCall } from '../message/provider-terms.ts';
import { keepKnownFields } from './known-fields.ts';

export const NO_RESULT = 'Failed to execute tool: no result was recorded for this call.';

type AssistantMessage = Extract<ProviderMessage, { role: 'assistant' }>;
type ToolMessage = Extract<ProviderMessage, { role: 'tool' }>;

interface Slot {
  readonly call: ProviderToolCall;
  result?: ToolMessage;
}

/** A message with the results that follow it. */
interface Exchange {
  readonly message: ProviderMessage;
  readonly slots: readonly Slot[];
}

export function sanitiseHistory(messages: readonly ProviderMessage[]): ProviderMessage[] {
  return pairCalls(messages.flatMap(keepKnownFields)).flatMap(({ message, slots }) => [
    message,
    ...slots.map(toResult),
  ]);
}

/** One pass, in which each call waits for its result until a later message makes a call with the same id. */
function pairCalls(messages: readonly ProviderMessage[]): Exchange[] {
  const waiting = new Map<string, Slot[]>();
  return messages.flatMap((message): Exchange[] => {
    if (message.role === 'tool') {
      const slot = waiting.get(message.toolCallId)?.pop();
      if (slot) slot.result = message;
      return [];
    }
    if (message.role !== 'assistant') return [{ message, slots: [] }];
    const made = (message.toolCalls ?? []).filter(({ id }) => id.trim().length > 0);
    const slots = withOwnIds(made).map((call): Slot => ({ call }));
    for (const id of new Set(made.map((call) => call.id))) waiting.set(id, []);
    // In reverse order: results take slots from the end, so the first result goes to the first call.
    for (let at = made.length - 1; at >= 0; at--)
      waiting.get((made[at] as ProviderToolCall).id)?.push(slots[at] as Slot);
    const kept = withCalls(
      message,
      slots.map(({ call }) => call),
    );
    // Providers also reject assistant messages with neither text nor calls.
    return slots.length > 0 || (kept.content ?? '').trim().length > 0 ? [{ message: kept, slots }] : [];
  });
}

/** Appends a number to the id of a later call with the same id. */
function withOwnIds(calls: readonly ProviderToolCall[]): readonly ProviderToolCall[] {
  const given = new Set(calls.map(({ id }) => id));
  if (given.size === calls.length) return calls;
  const used = new Map<string, number>();
  return calls.map((call) => {
    let count = (used.get(call.id) ?? 0) + 1;
    const isFirst = count === 1;
    while (!isFirst && given.has(`${call.id}_${count}`)) count += 1;
    used.set(call.id, count);
    if (isFirst) return call;
    const id = `${call.id}_${count}`;
    given.add(id);
    return { ...call, id };
  });
}

function withCalls(message: AssistantMessage, calls: readonly ProviderToolCall[]): AssistantMessage {
  const { toolCalls, parts: _, ...bare } = message;
  const isSame =
    calls.length === (toolCalls ?? []).length && calls.every((call, index) => call === toolCalls?.[index]);
  // The parts of an answer whose calls have changed are not its own any more.
  if (isSame && (calls.length > 0 || toolCalls === undefined)) return message;
  return calls.length > 0 ? { ...bare, toolCalls: calls } : bare;
}

/** Each call has one result. */
function toResult({ call: { id, name }, result }: Slot): ToolMessage {
  if (result) return { ...result, toolCallId: id, toolName: name };
  return { role: 'tool', toolCallId: id, toolName: name, content: NO_RESULT };
}
