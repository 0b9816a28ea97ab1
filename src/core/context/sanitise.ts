/**
 * Establishes what providers require of a history, whatever its thread, an import or hooks have made of it (definitions §12.2): the last
 * thing that happens to it before a model is asked, and the only repair there is.
 * R1. Every assistant message with tool calls is followed at once by exactly one result per call, in call order. A missing
 *     result is replaced by a failed one, an orphan and a second one are dropped: providers reject each in every later request, and one
 *     rejection would make the thread unusable.
 * R2. A result belongs to the last message before it that makes a call with its id.
 * R3. Sanitising what was sanitised changes nothing.
 * R4. The ids of a message's calls are texts, and differ: a call without one is dropped, and a later one of the same id gets an id of its own.
 * R5. No message says nothing, and none has a field that the contract of providers does not know.
 * R6. Linear in the number of messages and calls.
 */
import type { ProviderMessage, ProviderToolCall } from '../message/provider.ts';
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
  return pair(messages.flatMap(keepKnownFields)).flatMap(({ message, slots }) => [
    message,
    ...slots.map(toResult),
  ]);
}

/** R1, R2: one pass, in which each call waits for its result until another message makes a call of the same id. */
function pair(messages: readonly ProviderMessage[]): Exchange[] {
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
    // From the last to the first: results are taken from the end.
    for (let at = made.length - 1; at >= 0; at--)
      waiting.get((made[at] as ProviderToolCall).id)?.push(slots[at] as Slot);
    const kept = withCalls(
      message,
      slots.map(({ call }) => call),
    );
    // R5: providers also reject assistant messages with neither text nor calls.
    return slots.length > 0 || (kept.content ?? '').trim().length > 0 ? [{ message: kept, slots }] : [];
  });
}

/** R4: a number behind it tells a later call of the same id apart. */
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
  const { toolCalls, ...bare } = message;
  const isSame =
    calls.length === toolCalls?.length && calls.every((call, index) => call === toolCalls[index]);
  if (isSame && calls.length > 0) return message;
  return calls.length > 0 ? { ...bare, toolCalls: calls } : bare;
}

/** R1: each call has one result. */
function toResult({ call: { id, name }, result }: Slot): ToolMessage {
  if (result) return { ...result, toolCallId: id, toolName: name };
  return { role: 'tool', toolCallId: id, toolName: name, content: NO_RESULT };
}
