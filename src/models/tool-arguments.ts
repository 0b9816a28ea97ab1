/** Parses the JSON text of a tool call's arguments. Malformed text from a model is a value, not a fault. */

import type { ProviderToolCall } from '../core/message/provider-terms.ts';
import { LIMITS } from '../core/value/limit.ts';
import { parseRecord } from '../core/value/record.ts';
import { tooLarge } from './answer-failure.ts';

/**
 * A tool call from the model's own text. Arguments that are not a JSON object become `{}`, and the text is kept in
 * `rawArguments`, which is absent otherwise. An empty text means no arguments.
 */
export function parseToolCall(id: string, name: string, text: string): ProviderToolCall {
  if (text.trim() === '') return { id, name, arguments: {} };
  checkNesting(text, `the arguments of a call of "${name}"`);
  const parsed = parseRecord(text);
  if (parsed) return { id, name, arguments: parsed };
  return { id, name, arguments: {}, rawArguments: text };
}

/**
 * The arguments of a call as a provider gets them back. Servers that parse them would reject every later request of a
 * thread for text that is no JSON object: so it is a field of one.
 */
export function sentArguments({
  arguments: parsed,
  rawArguments,
}: Pick<ProviderToolCall, 'arguments' | 'rawArguments'>): Readonly<Record<string, unknown>> {
  return rawArguments === undefined ? parsed : { invalid_json: rawArguments };
}

/** Throws `AnswerTooLarge` for JSON that is nested too deep to be written again: JSON.stringify recurses. */
export function checkNesting(text: string, what: string): void {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (quoted && unit === 0x5c) at += 1;
    else if (unit === 0x22) quoted = !quoted;
    else if (quoted) continue;
    else if (unit === 0x5b || unit === 0x7b) depth += 1;
    else if (unit === 0x5d || unit === 0x7d) depth -= 1;
    if (depth > LIMITS.jsonDepth) throw tooLarge(`${what} are nested deeper than ${LIMITS.jsonDepth} levels`);
  }
}
