/** Converts tool calls of messages into those of providers; their arguments are text that a model wrote. */
import { parseRecord } from '../value/record.ts';
import type { ToolCall } from './message.ts';
import type { ProviderToolCall } from './provider-terms.ts';

export function isToolCall(value: unknown): value is ToolCall {
  const { id, function: target } = (value ?? {}) as Partial<ToolCall>;
  return typeof id === 'string' && typeof target?.name === 'string' && typeof target.arguments === 'string';
}

export function toProviderCall(call: Omit<ToolCall, 'type'>): ProviderToolCall {
  const { id, function: target, extra_content: extraContent } = call;
  const parsed = parseArguments(target.arguments);
  return {
    id,
    name: target.name,
    ...(parsed ? { arguments: parsed } : { arguments: {}, rawArguments: target.arguments }),
    ...(extraContent === undefined ? {} : { extraContent }),
  };
}

/** The arguments object of a call, or undefined when its text is not one. An empty text is an empty object. */
export function parseArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim().length === 0) return {};
  // Models write malformed JSON at times; the caller turns that into an error result.
  return parseRecord(text);
}
