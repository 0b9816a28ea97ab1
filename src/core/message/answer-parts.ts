/**
 * The parts of a model's answer in their order, each with its provider's metadata: signatures, encrypted reasoning, and
 * what else the provider needs back. Content, reasoning and calls of the answer are readings of them.
 * - Parts that are not the answer's any more, because it was changed, cut or redacted, are dropped as a whole:
 *   providers refuse a part without those around it. The digest covers all that the answer's parts say.
 * - Texts are stored once, with the message: a stored part has its length. Reasoning that the message does not have
 *   (`reasoning.exclude`) is stored with its part.
 * - An answer is stored without parts if they say no more than its message.
 */
import { LIMITS, utf8Length } from '../value/limit.ts';
import { isRecord, parseRecord } from '../value/record.ts';
import type { ProviderToolCall } from './provider-terms.ts';

export interface AnswerParts {
  /** The provider and the model: parts go back to no other. */
  readonly origin: string;
  readonly list: readonly AnswerPart[];
}

/** `metadata` is the provider's own, JSON, and goes back unread. */
export type AnswerPart = { readonly metadata?: Readonly<Record<string, unknown>> } & (
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  /** A call of the answer's `toolCalls`. */
  | { readonly type: 'call'; readonly id: string }
  /** A file, a source, a call or a result of the provider's own tool, in the backend's own form; JSON. */
  | { readonly type: 'other'; readonly value: Readonly<Record<string, unknown>> }
);

export interface PartedAnswer {
  readonly content: string | null;
  readonly reasoning?: string | null | undefined;
  readonly toolCalls?: readonly ProviderToolCall[] | undefined;
}

/** Returns a text's digest. */
export type Digest = (text: string) => string;

type TextPart = Extract<AnswerPart, { text: string }>;
/** A text is its length in the message. */
type StoredPart =
  | Exclude<AnswerPart, TextPart>
  | (Omit<TextPart, 'text'> & ({ readonly length: number } | { readonly text: string }));

interface StoredParts {
  readonly origin: string;
  readonly digest: string;
  readonly list: readonly StoredPart[];
}

/** Returns the parts as JSON text for the store; undefined if there is nothing to store, or too much. */
export function sealParts(
  parts: AnswerParts | undefined,
  answer: PartedAnswer,
  digest: Digest,
): string | undefined {
  if (!parts || !isReadingOf(parts, answer) || !saysMore(parts)) return undefined;
  const keepsReasoning = joinTexts(parts, 'reasoning') === (answer.reasoning ?? '');
  const list = parts.list.map((part): StoredPart => {
    if (part.type !== 'text' && !(part.type === 'reasoning' && keepsReasoning)) return part;
    const { text, ...rest } = part;
    return { ...rest, length: text.length };
  });
  const sealed: StoredParts = { origin: parts.origin, digest: digestOf(answer, digest), list };
  const text = JSON.stringify(sealed);
  return utf8Length(text) > LIMITS.answerPartsBytes ? undefined : text;
}

/** Returns the parts of a stored answer; undefined if it has none, or has been changed since. */
export function openParts(
  sealed: string | null | undefined,
  answer: PartedAnswer,
  digest: Digest,
): AnswerParts | undefined {
  const stored = sealed ? (parseRecord(sealed) as StoredParts | undefined) : undefined;
  if (!stored || stored.digest !== digestOf(answer, digest)) return undefined;
  const left = { text: answer.content ?? '', reasoning: answer.reasoning ?? '' };
  const list = stored.list.map((part): AnswerPart => {
    if (!('length' in part)) return part;
    const { length, ...rest } = part;
    const text = left[part.type].slice(0, length);
    left[part.type] = left[part.type].slice(length);
    return { ...rest, text };
  });
  return { origin: stored.origin, list };
}

/** True if the answer's text and calls are those of the parts. */
export function isReadingOf(
  parts: AnswerParts,
  { content, toolCalls = [] }: Pick<PartedAnswer, 'content' | 'toolCalls'>,
): boolean {
  const ids = parts.list.flatMap((part) => (part.type === 'call' ? [part.id] : []));
  const areSame = ids.length === toolCalls.length && toolCalls.every(({ id }, index) => id === ids[index]);
  const [text, own] = [joinTexts(parts, 'text'), content ?? ''];
  // A request has null in place of a text of white space alone.
  return areSame && (text === own || `${text}${own}`.trim() === '');
}

/** Reads what a provider returned; undefined for anything that is not a list of parts, or is not JSON. */
export function readParts(value: unknown): AnswerParts | undefined {
  const copy = isRecord(value) ? toJson(value) : undefined;
  if (typeof copy?.origin !== 'string' || !Array.isArray(copy.list) || !copy.list.every(isPart))
    return undefined;
  return { origin: copy.origin, list: copy.list };
}

/** A copy, since the provider may change its own. */
function toJson(value: object): Record<string, unknown> | undefined {
  try {
    return parseRecord(JSON.stringify(value));
  } catch {
    // A cycle, or a bigint.
    return undefined;
  }
}

function isPart(value: unknown): value is AnswerPart {
  if (!isRecord(value) || !(value.metadata === undefined || isRecord(value.metadata))) return false;
  if (value.type === 'text' || value.type === 'reasoning') return typeof value.text === 'string';
  return value.type === 'call'
    ? typeof value.id === 'string'
    : value.type === 'other' && isRecord(value.value);
}

function joinTexts({ list }: AnswerParts, type: TextPart['type']): string {
  return list.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');
}

/** False without metadata, in the order that a message implies: reasoning, text, calls. */
export function saysMore({ list }: AnswerParts): boolean {
  if (list.some(({ metadata }) => metadata !== undefined)) return true;
  return !/^(reasoning )?(text )?(call )*$/.test(list.map(({ type }) => `${type} `).join(''));
}

function digestOf({ content, reasoning, toolCalls = [] }: PartedAnswer, digest: Digest): string {
  const calls = toolCalls.map(({ id, name, arguments: given, rawArguments }) => [
    id,
    name,
    rawArguments ?? given,
  ]);
  return digest(JSON.stringify([content ?? '', reasoning ?? '', calls]));
}
