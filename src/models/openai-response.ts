/** Translates OpenAI chat completions, whole or streamed, into the provider port's answers (definitions §5.3, §5.4). */
import type OpenAI from 'openai';
import {
  type FinishReason,
  ProviderError,
  type ProviderResponse,
  type ProviderStreamChunk,
} from '../core/message/provider.ts';
import type { ReasoningDetail } from '../core/message/provider-terms.ts';
import { isWindowFull } from './length-refusal.ts';
import { toUsage } from './openai-usage.ts';
import { parseToolCall } from './tool-arguments.ts';

type Completion = OpenAI.Chat.ChatCompletion;
type CompletionChunk = OpenAI.Chat.ChatCompletionChunk;
type ToolCallDelta = OpenAI.Chat.ChatCompletionChunk.Choice.Delta.ToolCall;

/** Fields of compatible servers that OpenAI does not have. */
interface ReasoningFields {
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly reasoning_details?: readonly ReasoningDetail[] | null;
}

/** The `extra_content` of a call, which some servers require back with the call in later requests. */
const extraOf = (call: object): { extraContent?: unknown } => {
  const { extra_content: extraContent } = call as { extra_content?: unknown };
  return extraContent == null ? {} : { extraContent };
};

export function fromCompletion(completion: Completion): ProviderResponse {
  const choice = completion.choices?.[0];
  if (choice === undefined) {
    throw new ProviderError('The provider returned no choices, so there is no message.', 'server_error');
  }
  const { message } = choice;
  const toolCalls = (message.tool_calls ?? []).flatMap((call, index) =>
    call.type === 'custom'
      ? []
      : {
          ...parseToolCall(
            call.id || `${completion.id}_${index}`,
            call.function.name,
            call.function.arguments ?? '',
          ),
          ...extraOf(call),
        },
  );
  const reasoning = readReasoning(message);
  const details = readDetails(message);
  return {
    content: message.content ?? message.refusal ?? null,
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(details.length === 0 ? {} : { reasoningDetails: details }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    finishReason: toFinishReason(choice.finish_reason, toolCalls.length > 0),
    usage: toUsage(completion.usage),
    responseId: completion.id,
  };
}

/** Rejects with 'server_error' when the stream ends without a finish reason: the answer may be cut off. */
export async function* fromCompletionChunks(
  chunks: AsyncIterable<CompletionChunk>,
): AsyncGenerator<ProviderStreamChunk> {
  const calls = new Map<number, OpenCall>();
  const seen = { content: false, reasoning: false };
  const details: ReasoningDetail[] = [];
  let last: { finish?: string; usage?: CompletionChunk['usage']; id?: string } = {};
  for await (const chunk of chunks) {
    const choice = chunk.choices?.[0];
    last = {
      finish: choice?.finish_reason ?? last.finish,
      usage: chunk.usage ?? last.usage,
      id: chunk.id || last.id,
    };
    if (choice?.delta === undefined) continue;
    yield* textChunks(choice.delta, seen);
    for (const detail of readDetails(choice.delta)) details.push(detail);
    for (const delta of choice.delta.tool_calls ?? []) yield* toolCallChunks(delta, calls, last.id);
  }
  if (last.finish === undefined) {
    throw new ProviderError(
      'The stream ended without a finish reason; the answer is cut off.',
      'server_error',
    );
  }
  if (seen.reasoning) yield { type: 'reasoning-done' };
  if (seen.content) yield { type: 'content-done' };
  for (const { text, ...call } of calls.values()) yield { type: 'tool-call-done', ...call, arguments: text };
  const finishReason = toFinishReason(last.finish, calls.size > 0);
  const reasoningDetails = details.length > 0 ? details : undefined;
  yield { type: 'finish', finishReason, usage: toUsage(last.usage), responseId: last.id, reasoningDetails };
}

function* textChunks(
  delta: OpenAI.Chat.ChatCompletionChunk.Choice.Delta,
  seen: { content: boolean; reasoning: boolean },
): Generator<ProviderStreamChunk> {
  const reasoning = readReasoning(delta);
  if (reasoning) {
    seen.reasoning = true;
    yield { type: 'reasoning-delta', delta: reasoning };
  }
  const content = delta.content ?? delta.refusal;
  if (content) {
    seen.content = true;
    yield { type: 'content-delta', delta: content };
  }
}

interface OpenCall {
  readonly id: string;
  name: string;
  readonly extraContent?: unknown;
  text: string;
}

/** The first delta of a call begins it; later ones add to its arguments. */
function* toolCallChunks(
  delta: ToolCallDelta,
  calls: Map<number, OpenCall>,
  responseId: string | undefined,
): Generator<ProviderStreamChunk> {
  // Some servers omit the index; then a name begins a call and everything else belongs to the last one.
  const index = delta.index ?? (delta.function?.name ? calls.size : calls.size - 1);
  let call = calls.get(index);
  if (call === undefined) {
    const id = delta.id || `${responseId ?? 'call'}_${index}`;
    const started = { id, name: delta.function?.name ?? '', ...extraOf(delta) };
    call = { ...started, text: '' };
    calls.set(index, call);
    yield { type: 'tool-call-start', ...started };
  }
  // Some servers send the name after the first delta; the call's `tool-call-done` contains it.
  call.name ||= delta.function?.name ?? '';
  const text = delta.function?.arguments;
  if (!text) return;
  call.text += text;
  yield { type: 'tool-call-delta', id: call.id, argumentsDelta: text };
}

function readReasoning(fields: object): string | undefined {
  const { reasoning_content, reasoning } = fields as ReasoningFields;
  const text = reasoning_content ?? reasoning;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

function readDetails(fields: object): readonly ReasoningDetail[] {
  const { reasoning_details: details } = fields as ReasoningFields;
  return Array.isArray(details) ? details : [];
}

/** Some servers report "stop" after tool calls, and some use their own words: the content of the answer decides. */
function toFinishReason(reason: string | null | undefined, hasToolCalls: boolean): FinishReason {
  if (isWindowFull(reason)) return 'length';
  if (reason === 'length' || reason === 'content_filter' || reason === 'error') return reason;
  return hasToolCalls ? 'tool_calls' : 'stop';
}
