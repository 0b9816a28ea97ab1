/**
 * Reads a message of Chat Completions, whole or a delta of one, as servers really write it: every field may be absent, null, or
 * of another shape. Pure.
 */
import type { ReasoningDetail } from '../core/message/provider-terms.ts';
import { isRecord } from '../core/value/record.ts';
import { answerJson, invalidAnswer } from './answer-failure.ts';

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export interface MessageTexts {
  readonly content: string;
  readonly reasoning: string;
}

/** An id may be a number. Throws `InvalidAnswer` for what cannot be meant as a text. */
function wordOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  throw invalidAnswer(`The server answered with a value of type ${typeof value} where a string is required`);
}

/** Content is a text, or a list of parts: Mistral's have the reasoning among them. */
export function readTexts({ content, refusal, ...fields }: Fields): MessageTexts {
  const parts = Array.isArray(content) ? content : [content];
  const text = Array.isArray(content) ? parts.map(partText).join('') : wordOf(content);
  const thought = textOf(fields.reasoning_content) || textOf(fields.reasoning);
  return {
    content: text || textOf(refusal),
    reasoning: thought || parts.map(thoughtOf).join(''),
  };
}

function partText(part: unknown): string {
  const { text, type } = fieldsOf(part);
  return type === 'thinking' ? '' : textOf(part) || textOf(text);
}

function thoughtOf(part: unknown): string {
  const { type, thinking } = fieldsOf(part);
  if (type !== 'thinking') return '';
  return textOf(thinking) || listOf(thinking).map(partText).join('');
}

export function readDetails({ reasoning_details: details }: Fields): readonly ReasoningDetail[] {
  return listOf(details) as readonly ReasoningDetail[];
}

/** One call, or a piece of one. */
export interface CallFields {
  readonly index?: number | undefined;
  readonly id: string;
  readonly name: string;
  /** JSON text, or a piece of it. */
  readonly text: string;
  /** `extra_content`, which some servers require back with the call in later requests. */
  readonly extraContent?: unknown;
}

/** The calls of a message, with the one of the older `function_call`. OpenAI's custom tools are not offered. */
export function readCalls({ tool_calls: calls, function_call: older }: Fields): readonly CallFields[] {
  const given = isRecord(older) ? [...listOf(calls), { function: older }] : listOf(calls);
  return given.filter((call) => isRecord(call) && call.type !== 'custom').map(toCall);
}

function toCall(call: unknown): CallFields {
  const { index, id, function: fn, extra_content: extraContent } = fieldsOf(call);
  const { name, arguments: given } = fieldsOf(fn);
  return {
    index: typeof index === 'number' ? index : undefined,
    id: wordOf(id),
    name: wordOf(name),
    // llama.cpp and others give the object itself.
    text:
      typeof given === 'object' && given !== null
        ? answerJson(given, 'arguments of a tool call')
        : wordOf(given),
    ...(extraContent == null ? {} : { extraContent }),
  };
}

/** Throws the error that a body, an event or a choice has in place of an answer, under the status 200. */
export function throwIfError(...places: readonly unknown[]): void {
  for (const place of places) {
    const fields = fieldsOf(place);
    // vLLM's events are the error itself.
    const error = fields.object === 'error' ? fields : fields.error;
    if (error == null) continue;
    const { message, code, type } = isRecord(error) ? error : { message: error };
    const text = textOf(message) || JSON.stringify(error);
    throw Object.assign(new Error(text), { code, type, error });
  }
}
