/** The parts that projections use of the message that a row of `message.created` refers to. */
import type { Message } from '../core/message/message.ts';

/** A message; the row after its `message.created` shows what it is, such as an answer or a result. */
export interface RowMessage {
  readonly id: string;
  readonly content: string | null;
  /** Error code of a tool result that is an error. */
  readonly code?: string;
  /** Set if its execution was stopped or cancelled before the call had a result. */
  readonly stopped?: true;
}

export function toRowMessage(id: string, message: Message | null | undefined): RowMessage {
  const { error_code: code, stopped } = message?.metadata ?? {};
  return {
    id,
    content: message?.content ?? null,
    ...(typeof code === 'string' ? { code } : {}),
    ...(stopped ? { stopped: true } : {}),
  };
}

export interface WrittenCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** Returns the calls of a message, as the model wrote them. */
export function callsOf(message: Message | null | undefined): readonly WrittenCall[] {
  return message?.tool_calls ? (JSON.parse(message.tool_calls) as WrittenCall[]) : [];
}

/** Returns the arguments of a message's calls as text, by call id. */
export function argumentsOf(message: Message | null | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(callsOf(message).map((call) => [call.id, call.function.arguments]));
}
