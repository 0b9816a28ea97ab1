/**
 * Context assembly (runtime §4): from stored messages to what a provider is asked.
 * A1. Every assistant message with tool calls is followed at once by exactly one result per call, in call
 *     order. A missing result is made up as failed, an orphan result is dropped: providers refuse either for
 *     ever after, and one refusal would brick the thread.
 * A2. Pure: the same rows give the same request.
 */
import type { Message, ToolCall } from './message.ts';
import type { ProviderMessage, ProviderToolCall } from './provider.ts';

export interface ContextMessage extends Message {
  readonly executionId: string | null;
  readonly step: number | null;
}

export interface ContextInput {
  readonly system: string;
  readonly messages: readonly ContextMessage[];
  readonly executionId: string;
  readonly includeChat: boolean;
  readonly includePastTools: boolean;
}

export function assembleMessages(input: ContextInput): ProviderMessage[] {
  const { system, executionId, includeChat, includePastTools } = input;
  const chosen = input.messages.filter((message) => includeChat || message.executionId === executionId);
  // A call's result is found wherever it stands: after a reset another run may have stored it.
  const results = indexResults(input.messages);
  const assembled = chosen.flatMap((message) => {
    const past = message.executionId !== executionId;
    return toProviderMessages(message, past && !includePastTools, results);
  });
  return system.length > 0 ? [{ role: 'system', content: system }, ...assembled] : assembled;
}

function toProviderMessages(
  message: ContextMessage,
  withoutCalls: boolean,
  results: ResultIndex,
): ProviderMessage[] {
  switch (message.role) {
    case 'system':
    case 'user':
      return [{ role: message.role, content: message.content ?? '' }];
    case 'assistant':
      return fromAssistant(message, withoutCalls ? [] : parseCalls(message), results);
    case 'tool':
      return []; // Placed behind its call, by fromAssistant.
  }
}

type ResultIndex = Map<string, ContextMessage[]>;

/** Providers may use a call id again in a later step, so the step is part of the key. */
const resultKey = (step: number | null, callId: string | null): string => `${step ?? ''}:${callId ?? ''}`;

function indexResults(messages: readonly ContextMessage[]): ResultIndex {
  const index: ResultIndex = new Map();
  for (const message of messages) {
    if (message.role !== 'tool') continue;
    const key = resultKey(message.step, message.tool_call_id);
    index.set(key, [...(index.get(key) ?? []), message]);
  }
  return index;
}

function parseCalls(message: ContextMessage): ToolCall[] {
  return message.tool_calls ? (JSON.parse(message.tool_calls) as ToolCall[]) : [];
}

function fromAssistant(
  message: ContextMessage,
  calls: readonly ToolCall[],
  results: ResultIndex,
): ProviderMessage[] {
  const content = message.content && message.content.trim().length > 0 ? message.content : null;
  if (calls.length === 0) return content === null ? [] : [{ role: 'assistant', content }];
  return [
    { role: 'assistant', content, toolCalls: calls.map(toProviderCall) },
    ...calls.map((call): ProviderMessage => {
      const result = results.get(resultKey(message.step, call.id))?.shift();
      return {
        role: 'tool',
        toolCallId: call.id,
        toolName: call.function.name,
        content: result?.content ?? 'Failed to execute tool: no result was recorded for this call.',
      };
    }),
  ];
}

export function toProviderCall(call: ToolCall): ProviderToolCall {
  const { id, function: target } = call;
  const parsed = parseArguments(target.arguments);
  return parsed
    ? { id, name: target.name, arguments: parsed }
    : { id, name: target.name, arguments: {}, rawArguments: target.arguments };
}

/** The arguments object of a call, or undefined when its text is not one. An empty text is an empty object. */
export function parseArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim().length === 0) return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    // Models do write malformed JSON; the caller turns that into an error result.
    return undefined;
  }
}
