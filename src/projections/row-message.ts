/** What a row of `message.created` points to, as far as readings tell it. */
import type { Message } from '../core/message/message.ts';

/** A message whose meaning the row behind it says: an answer, a result. */
export interface Said {
  readonly id: string;
  readonly content: string | null;
  /** Of a result that is an error. */
  readonly code?: string;
}

export function saidBy(id: string, message: Message | null | undefined): Said {
  const code = message?.metadata.error_code;
  return { id, content: message?.content ?? null, ...(typeof code === 'string' ? { code } : {}) };
}

export interface WrittenCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** Calls as the model wrote them. */
export function callsOf(message: Message | null | undefined): readonly WrittenCall[] {
  return message?.tool_calls ? (JSON.parse(message.tool_calls) as WrittenCall[]) : [];
}

/** Arguments of a message's calls, as their texts, by the id of the call. */
export function argumentsOf(message: Message | null | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(callsOf(message).map((call) => [call.id, call.function.arguments]));
}
