/** Folds stream chunks into the response that `generate` would have returned (definitions §5.3, §5.4). */
import type {
  ExecutedProviderTool,
  ProviderResponse,
  ProviderStreamChunk,
  ProviderToolCall,
} from '../core/message/provider.ts';
import { ProviderError } from '../core/message/provider.ts';
import { parseToolCall } from './tool-arguments.ts';

export interface Accumulator {
  /** Throws the ProviderError of an `error` chunk. */
  add(chunk: ProviderStreamChunk): void;
  /** Throws 'server_error' when no `finish` chunk arrived: the answer may be cut off. */
  response(): ProviderResponse;
}

export function createAccumulator(): Accumulator {
  let content: string | null = null;
  let reasoning: string | null = null;
  let finish: Extract<ProviderStreamChunk, { type: 'finish' }> | undefined;
  const toolCalls: ProviderToolCall[] = [];
  const providerTools: ExecutedProviderTool[] = [];

  function add(chunk: ProviderStreamChunk): void {
    if (chunk.type === 'content-delta') content = (content ?? '') + chunk.delta;
    else if (chunk.type === 'reasoning-delta') reasoning = (reasoning ?? '') + chunk.delta;
    else if (chunk.type === 'tool-call-done')
      toolCalls.push(parseToolCall(chunk.id, chunk.name, chunk.arguments));
    else if (chunk.type === 'provider-tool-done') providerTools.push(chunk.tool);
    else if (chunk.type === 'finish') finish = chunk;
    else if (chunk.type === 'error') throw new ProviderError(chunk.error, chunk.code ?? 'unknown');
  }

  function response(): ProviderResponse {
    if (finish === undefined) {
      throw new ProviderError(
        'The stream ended before it was finished; the answer is cut off.',
        'server_error',
      );
    }
    const { finishReason, usage, responseId } = finish;
    return {
      content,
      ...(reasoning === null ? {} : { reasoning }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
      ...(providerTools.length === 0 ? {} : { providerTools }),
      finishReason,
      usage,
      ...(responseId === undefined ? {} : { responseId }),
    };
  }

  return { add, response };
}
