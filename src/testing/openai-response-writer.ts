/** Writes the provider port's answers as OpenAI chat completions, whole and streamed, and failures as error bodies. Pure. */

import type { ProviderResponse, ProviderStreamChunk, ProviderUsage } from '../core/message/provider.ts';
import { errorMessage } from '../core/value/thrown.ts';
import { isProviderError } from '../models/classify.ts';

export function toCompletion(response: ProviderResponse, model: string): object {
  const toolCalls = response.toolCalls?.map(({ id, name, arguments: args, rawArguments }) => ({
    id,
    type: 'function',
    function: { name, arguments: rawArguments ?? JSON.stringify(args) },
  }));
  const message = {
    role: 'assistant',
    content: response.content,
    ...(response.reasoning ? { reasoning_content: response.reasoning } : {}),
    ...(toolCalls === undefined ? {} : { tool_calls: toolCalls }),
  };
  return {
    id: response.responseId,
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, message, finish_reason: response.finishReason }],
    usage: toUsage(response.usage),
  };
}

/** The events for one chunk. */
export type ChunkWriter = (chunk: ProviderStreamChunk) => object[];

/** Writes the chunks of one answer, in order; a finish becomes two events, as with `include_usage`. */
export function createChunkWriter(id: string, model: string): ChunkWriter {
  const positions = new Map<string, number>();

  const event = (delta: object, finishReason: string | null = null) => ({
    id,
    object: 'chat.completion.chunk',
    created: 0,
    model,
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
  const callEvent = (callId: string, rest: object) =>
    event({ tool_calls: [{ index: positions.get(callId) ?? 0, ...rest }] });

  return (chunk) => {
    switch (chunk.type) {
      case 'content-delta':
        return [event({ role: 'assistant', content: chunk.delta })];
      case 'reasoning-delta':
        return [event({ role: 'assistant', reasoning_content: chunk.delta })];
      case 'tool-call-start':
        positions.set(chunk.id, positions.size);
        return [
          callEvent(chunk.id, {
            id: chunk.id,
            type: 'function',
            function: { name: chunk.name, arguments: '' },
          }),
        ];
      case 'tool-call-delta':
        return [callEvent(chunk.id, { function: { arguments: chunk.argumentsDelta } })];
      case 'finish':
        return [event({}, chunk.finishReason), { ...event({}), choices: [], usage: toUsage(chunk.usage) }];
      default:
        return [];
    }
  };
}

export function toErrorBody(error: unknown): object {
  if (!isProviderError(error)) {
    return {
      error: {
        message: `The script itself failed: ${errorMessage(error)}`,
        type: 'server_error',
        code: null,
      },
    };
  }
  return { error: { message: error.message, type: error.code, code: null } };
}

function toUsage(usage: ProviderUsage): object {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.totalTokens,
    ...(usage.cachedTokens === undefined
      ? {}
      : { prompt_tokens_details: { cached_tokens: usage.cachedTokens } }),
    ...(usage.reasoningTokens === undefined
      ? {}
      : { completion_tokens_details: { reasoning_tokens: usage.reasoningTokens } }),
  };
}
