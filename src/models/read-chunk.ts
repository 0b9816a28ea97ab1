/**
 * Parses what a provider answers, whole or in chunks (definitions §5.3, §5.4). Providers are foreign code: a field that
 * is declared as a text may have any value, and is rejected with `InvalidAnswer` before anything of it is kept.
 */
import { hash } from 'node:crypto';
import { type AnswerParts, readParts } from '../core/message/answer-parts.ts';
import type { ExecutedProviderTool, ProviderStreamChunk } from '../core/message/provider.ts';
import type { ProviderImage, ReasoningDetail } from '../core/message/provider-terms.ts';
import { parseBase64 } from '../core/value/base64.ts';
import { LIMITS } from '../core/value/limit.ts';
import { invalidAnswer } from './answer-failure.ts';

type Fields = Readonly<Record<string, unknown>>;
type Kind = ProviderStreamChunk['type'];
type ChunkOf<K extends Kind> = Extract<ProviderStreamChunk, { type: K }>;

const READ: { readonly [K in Kind]: (fields: Fields) => Omit<ChunkOf<K>, 'type'> } = {
  'content-delta': ({ delta }) => ({ delta: text(delta) }),
  'content-done': () => ({}),
  'reasoning-delta': ({ delta }) => ({ delta: text(delta) }),
  'reasoning-done': () => ({}),
  'tool-call-start': ({ id, name, extraContent }) => ({ id: idOf(id), name: text(name), extraContent }),
  'tool-call-delta': ({ id, argumentsDelta }) => ({ id: idOf(id), argumentsDelta: text(argumentsDelta) }),
  'tool-call-done': ({ id, name, arguments: given, extraContent }) => ({
    id: idOf(id),
    name: isAbsent(name) ? undefined : text(name),
    arguments: argumentsOf(given),
    extraContent,
  }),
  'image-delta': ({ index, data }) => ({ index: Number(index), data: text(data) }),
  'image-done': ({ index, image }) => ({ index: Number(index), image: imageOf(image) }),
  'web-search-done': ({ result }) => ({ result }),
  'provider-tool-done': ({ tool }) => ({ tool: executedOf(tool) }),
  // Finish reason, usage and id may be implausible: `attempt.ts` corrects them.
  finish: (fields) => ({
    finishReason: fields.finishReason as ChunkOf<'finish'>['finishReason'],
    usage: fields.usage as ChunkOf<'finish'>['usage'],
    responseId: fields.responseId as string | undefined,
    reasoningDetails: detailsOf(fields.reasoningDetails),
    parts: partsOf(fields.parts),
  }),
  error: ({ error, code }) => ({ error: error as string, code: code as ChunkOf<'error'>['code'] }),
};

/** Returns the chunk with the fields of its kind, or the name of the kind if the contract does not define it. */
export function readChunk(value: unknown): ProviderStreamChunk | string {
  const fields = fieldsOf(value, 'a chunk');
  const type = text(fields.type);
  if (!Object.hasOwn(READ, type)) return type;
  return { type, ...READ[type as Kind](fields) } as ProviderStreamChunk;
}

/** Splits a whole answer into the chunks of a stream, not yet parsed, so that both are processed alike. */
export function toChunks(response: unknown): unknown[] {
  const fields = fieldsOf(response, 'an answer');
  const { content, reasoning, toolCalls, images, providerTools } = fields;
  return [
    ...(isAbsent(reasoning) ? [] : [{ type: 'reasoning-delta', delta: reasoning }]),
    ...(isAbsent(content) ? [] : [{ type: 'content-delta', delta: content }]),
    ...listOf(toolCalls, 'toolCalls').map((each) => {
      const call = fieldsOf(each, 'a tool call');
      return { ...call, type: 'tool-call-done', arguments: call.rawArguments ?? call.arguments };
    }),
    ...listOf(images, 'images').map((image, index) => ({ type: 'image-done', index, image })),
    ...listOf(providerTools, 'providerTools').map((tool) => ({ type: 'provider-tool-done', tool })),
    { ...fields, type: 'finish' },
  ];
}

function imageOf(value: unknown): ProviderImage {
  const { id, toolName, data, mediaType, revisedPrompt } = fieldsOf(value, 'an image');
  if (parseBase64(data) === undefined) {
    throw invalidAnswer('The provider answered with an image whose data is not base64');
  }
  return {
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof toolName === 'string' ? { toolName } : {}),
    ...(typeof revisedPrompt === 'string' ? { revisedPrompt } : {}),
    data: data as string,
    mediaType: text(mediaType),
  };
}

const STATUSES: ReadonlySet<unknown> = new Set(['completed', 'failed', 'in_progress']);

function executedOf(value: unknown): ExecutedProviderTool {
  const fields = fieldsOf(value, 'a tool that it ran');
  const { id, name, type, provider, status } = fields;
  return {
    ...(fields as object),
    id: idOf(id),
    name: text(name),
    type: typeof type === 'string' ? type : 'tool',
    provider: typeof provider === 'string' ? provider : '',
    status: STATUSES.has(status) ? (status as ExecutedProviderTool['status']) : 'completed',
  };
}

/** Reasoning details are only sent back to their provider, so their fields are not checked; non-objects are dropped. */
function detailsOf(value: unknown): readonly ReasoningDetail[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const details = value.filter((each) => typeof each === 'object' && each !== null);
  return details.length > 0 ? details : undefined;
}

function argumentsOf(value: unknown): string | Fields | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && !Array.isArray(value)) return value as Fields;
  throw invalidAnswer(
    `The provider answered with ${nameOf(value)} where the arguments of a tool call are required`,
  );
}

function partsOf(value: unknown): AnswerParts | undefined {
  const parts = readParts(value);
  const list = parts?.list.map((part) => (part.type === 'call' ? { ...part, id: toCallId(part.id) } : part));
  return parts && list && { ...parts, list };
}

/** An absent id is assigned later (`cleanCalls`). */
const idOf = (value: unknown): string => (isAbsent(value) ? '' : toCallId(text(value)));

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  throw invalidAnswer(`The provider answered with ${nameOf(value)} where a string is required`);
}

function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw invalidAnswer(`The provider answered with ${nameOf(value)} where ${what} is required`);
}

function listOf(value: unknown, field: string): readonly unknown[] {
  if (isAbsent(value)) return [];
  if (Array.isArray(value)) return value;
  throw invalidAnswer(`The provider answered with ${nameOf(value)} where the list "${field}" is required`);
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`;
}

/** Ids of calls, as a provider gives them: one that is too long to be stored gets one of ours, the same wherever it stands. */
function toCallId(given: string): string {
  if (given.length <= LIMITS.callIdChars) return given;
  return `call_${hash('sha256', given).slice(0, 32)}`;
}
