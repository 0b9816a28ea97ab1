/**
 * Chooses the messages of a thread that go into a request (runtime §4, definitions §12.2), in their stored form.
 * `context-provider.ts` converts them for providers; `sanitise.ts` then establishes what providers require.
 * - Input, answers and results of the current execution are always chosen, whatever the prompt includes: a model must
 *   see the result of the call that it just made (definitions §22.7, §22.8).
 * - A result is placed directly after its call, wherever it was stored. A result without a call is dropped.
 * - Pure: the same rows give the same choice.
 */

import type { Message, ToolCall } from '../message/message.ts';
import { isToolCall } from '../message/tool-call.ts';

export interface ContextMessage extends Message {
  readonly executionId: string | null;
  readonly step: number | null;
  /** The model's reasoning, if its answer had any. */
  readonly reasoning?: string | null;
  /** The prompt under which the model answered. */
  readonly prompt?: string | null;
  /** The parts of the model's answer (answer-parts.ts). */
  readonly parts?: string | null;
}

export interface Choice {
  readonly executionId: string;
  readonly includeChat: boolean;
  readonly includePastTools: boolean;
}

/** Returns the messages that the prompt includes. Silent ones, hidden from lists, count too (definitions §22.41). */
export function chooseMessages(
  messages: readonly ContextMessage[],
  { executionId, includeChat, includePastTools }: Choice,
): ContextMessage[] {
  const current = (message: ContextMessage) => message.executionId === executionId;
  const included = (message: ContextMessage) => includeChat || current(message);
  const strip = (message: ContextMessage) =>
    includePastTools || current(message) ? message : { ...message, tool_calls: null };
  const asked = new Set(messages.filter(included).map(strip).flatMap(callKeys));
  return messages.flatMap((message) => {
    if (message.role === 'tool') return asked.has(resultKey(message)) ? [message] : [];
    return included(message) ? [strip(message)] : [];
  });
}

/** Places each result directly after its call, in call order. A call without a result stays (`sanitise.ts`). */
export function pairResults(messages: readonly ContextMessage[]): ContextMessage[] {
  const results = new Map<string, ContextMessage[]>();
  for (const message of messages) {
    if (message.role !== 'tool') continue;
    const key = resultKey(message);
    const same = results.get(key);
    if (same) same.push(message);
    else results.set(key, [message]);
  }
  return messages.flatMap((message) => {
    if (message.role === 'tool') return [];
    return [message, ...callKeys(message).flatMap((key) => results.get(key)?.shift() ?? [])];
  });
}

/** Providers may use a call id again in a later step, so the step is part of the key. */
const keyOf = (step: number | null | undefined, callId: string | null) => `${step ?? ''}:${callId ?? ''}`;

/** Key of the call that a tool message answers. */
export function resultKey({ step, tool_call_id: callId }: Pick<ContextMessage, 'step' | 'tool_call_id'>) {
  return keyOf(step, callId);
}

/** Keys of the calls that a message makes, in order. */
export function callKeys(message: Pick<ContextMessage, 'role' | 'step' | 'tool_calls'>): string[] {
  return parseCalls(message).map(({ id }) => keyOf(message.step, id));
}

/**
 * Malformed calls, which hooks may have written, are skipped. Side B's messages are stored as a user's, with their
 * calls (context-side.ts).
 */
export function parseCalls({ role, tool_calls: text }: Pick<Message, 'role' | 'tool_calls'>): ToolCall[] {
  if ((role !== 'assistant' && role !== 'user') || typeof text !== 'string') return [];
  try {
    const calls: unknown = JSON.parse(text);
    return Array.isArray(calls) ? calls.filter(isToolCall) : [];
  } catch {
    return [];
  }
}
