/**
 * Translates OpenAI chat completions, whole or streamed, into the provider port's answers (definitions §5.3, §5.4).
 *
 * The usage of Chat Completions, and of the servers that speak them in their own way.
 * - Cached tokens are details of the prompt's; DeepSeek, Moonshot and routers to Anthropic name them beside it.
 * - A total above the sum of prompt and answer counts thoughts that neither details nor answer have (Gemini).
 * - A router that was given the author's own key claims only its fee as cost: what the model's provider takes is added, or the claim
 *   does not count.
 */
import {
  ProviderError,
  type ProviderResponse,
  type ProviderStreamChunk,
  type ProviderUsage,
} from '../core/message/provider.ts';
import type { ReasoningDetail } from '../core/message/provider-terms.ts';
import { leavesCacheOut, readUsage } from '../core/message/usage.ts';
import { sumUsd } from '../core/value/money.ts';
import { toFinishReason } from './finish-reason.ts';
import {
  type Fields,
  fieldsOf,
  listOf,
  readCalls,
  readDetails,
  readTexts,
  textOf,
  throwIfError,
} from './openai-message.ts';
import { collectCalls } from './streamed-calls.ts';
import { parseToolCall } from './tool-arguments.ts';

export function fromCompletion(completion: unknown): ProviderResponse {
  const { id, choices, usage } = fieldsOf(completion);
  const [choice] = listOf(choices);
  throwIfError(completion, choice);
  if (choice === undefined) {
    throw new ProviderError('The provider returned no choices, so there is no message.', 'server_error');
  }
  const { message: given, finish_reason: finish } = fieldsOf(choice);
  const message = fieldsOf(given);
  const toolCalls = readCalls(message).map(({ id: callId, name, text, extraContent }, index) => ({
    ...parseToolCall(callId || `${textOf(id)}_${index}`, name, text),
    ...(extraContent === undefined ? {} : { extraContent }),
  }));
  const { content, reasoning } = readTexts(message);
  const details = readDetails(message);
  return {
    content: content === '' && typeof message.content !== 'string' ? null : content,
    ...(reasoning === '' ? {} : { reasoning }),
    ...(details.length === 0 ? {} : { reasoningDetails: details }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    finishReason: toFinishReason([finish], toolCalls.length > 0),
    usage: toUsage(usage),
    ...(typeof id === 'string' ? { responseId: id } : {}),
  };
}

/** What of a stream is known at its end alone. */
interface Ending {
  finish: unknown;
  usage: unknown;
  id: string | undefined;
}

/**
 * Rejects with 'server_error' when the stream ends without a finish reason: the answer may be cut off. An answer with
 * the protocol's end, `[DONE]`, is not: `isDone` tells it.
 */
export async function* fromCompletionChunks(
  chunks: AsyncIterable<unknown>,
  isDone: () => boolean = () => false,
): AsyncGenerator<ProviderStreamChunk> {
  const calls = collectCalls();
  const seen = { content: false, reasoning: false };
  const details: ReasoningDetail[] = [];
  const last: Ending = { finish: undefined, usage: undefined, id: undefined };
  for await (const chunk of chunks) {
    const { id, choices, usage } = fieldsOf(chunk);
    const choice = fieldsOf(listOf(choices)[0]);
    throwIfError(chunk, choice);
    last.finish = choice.finish_reason || last.finish;
    last.usage = usage ?? last.usage;
    last.id = textOf(id) || last.id;
    const delta = fieldsOf(choice.delta);
    yield* textChunks(delta, seen);
    for (const detail of readDetails(delta)) details.push(detail);
    for (const piece of readCalls(delta)) yield* calls.add(piece, last.id);
  }
  const hasAnswer = seen.content || seen.reasoning || calls.count > 0;
  if (last.finish === undefined && !(hasAnswer && isDone())) {
    throw new ProviderError(
      'The stream ended without a finish reason; the answer is cut off.',
      'server_error',
    );
  }
  if (seen.reasoning) yield { type: 'reasoning-done' };
  if (seen.content) yield { type: 'content-done' };
  yield* calls.end();
  const finishReason = toFinishReason([last.finish], calls.count > 0);
  const reasoningDetails = details.length > 0 ? details : undefined;
  yield { type: 'finish', finishReason, usage: toUsage(last.usage), responseId: last.id, reasoningDetails };
}

function* textChunks(
  delta: Fields,
  seen: { content: boolean; reasoning: boolean },
): Generator<ProviderStreamChunk> {
  const { content, reasoning } = readTexts(delta);
  if (reasoning !== '') {
    seen.reasoning = true;
    yield { type: 'reasoning-delta', delta: reasoning };
  }
  if (content !== '') {
    seen.content = true;
    yield { type: 'content-delta', delta: content };
  }
}

function toUsage(usage: unknown): ProviderUsage {
  const fields = fieldsOf(usage);
  const prompt = fieldsOf(fields.prompt_tokens_details);
  const read = readUsage({
    promptTokens: fields.prompt_tokens,
    completionTokens: fields.completion_tokens,
    totalTokens: fields.total_tokens,
    reasoningTokens: fieldsOf(fields.completion_tokens_details).reasoning_tokens,
    cachedTokens:
      prompt.cached_tokens ??
      fields.prompt_cache_hit_tokens ??
      fields.cache_read_input_tokens ??
      fields.cached_tokens,
    cacheWriteTokens:
      prompt.cache_write_tokens ?? prompt.cache_creation_tokens ?? fields.cache_creation_input_tokens,
    cost: costIn(fields),
  });
  // Thoughts that only the total has.
  const rest = read.totalTokens - read.promptTokens - read.completionTokens;
  const hasThoughts = rest > 0 && read.reasoningTokens === undefined && !leavesCacheOut(read);
  return hasThoughts && read.completionTokens > 0 ? { ...read, reasoningTokens: rest } : read;
}

/** Never the fee alone. */
function costIn({ cost, is_byok: hasOwnKey, cost_details: details }: Fields): unknown {
  if (hasOwnKey !== true) return cost;
  const { upstream_inference_cost: upstream } = fieldsOf(details);
  return typeof upstream === 'number' && typeof cost === 'number' ? sumUsd([upstream, cost]) : undefined;
}
