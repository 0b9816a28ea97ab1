/** Reads the JSON text of a tool call's arguments. What a model writes may be malformed; that is a value, not a fault. */
import type { ProviderToolCall } from '../core/provider.ts';

/**
 * A tool call from the model's own text. Arguments that are not a JSON object become `{}`, and the text is kept in
 * `rawArguments`, which is absent otherwise. No text at all means no arguments.
 */
export function parseToolCall(id: string, name: string, text: string): ProviderToolCall {
  if (text.trim() === '') return { id, name, arguments: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (isPlainObject(value)) return { id, name, arguments: value };
  } catch {
    // Malformed: answered below.
  }
  return { id, name, arguments: {}, rawArguments: text };
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
