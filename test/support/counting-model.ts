/**
 * A model double that counts tokens in its own way and refuses what is longer than its window, as providers do: the
 * answer's tokens count, and the refusal has the shape of one of four families.
 */
import type { ProviderMessage, ProviderUsage } from '../../src/core/message/provider.ts';
import { type FailureStep, fails, type RecordedRequest } from '../../src/testing/index.ts';

export interface Counting {
  /** Tokens of its window. */
  readonly window: number;
  /** Characters of a token in a text. */
  readonly charactersPerToken: (text: string) => number;
  /** Tokens of each message beside its texts. */
  readonly perMessage?: number;
  /** Bytes of a request above which it answers 413. */
  readonly bytes?: number;
  readonly family?: Family;
}

export type Family = 'openai' | 'anthropic' | 'groq' | 'bedrock';

export function countTokens(
  { messages, tools }: RecordedRequest,
  { charactersPerToken, perMessage = 0 }: Counting,
): number {
  const texts = [...messages.flatMap(textsOf), ...(tools ? [JSON.stringify(tools)] : [])];
  const tokens = texts.reduce((sum, text) => sum + Math.ceil(text.length / charactersPerToken(text)), 0);
  return tokens + perMessage * messages.length;
}

/** The refusal of a request that is too long; undefined if it fits. */
export function refuse(request: RecordedRequest, counting: Counting): FailureStep | undefined {
  const { window, bytes = Number.POSITIVE_INFINITY } = counting;
  if (Buffer.byteLength(JSON.stringify(request.messages)) > bytes)
    return fails({ status: 413, message: 'Request exceeds the maximum size' });
  const input = countTokens(request, counting);
  const output = request.maxOutputTokens ?? 0;
  return input + output <= window
    ? undefined
    : REFUSALS[counting.family ?? 'openai']({ window, input, output });
}

interface Count {
  readonly window: number;
  readonly input: number;
  readonly output: number;
}

const REFUSALS: Readonly<Record<Family, (count: Count) => FailureStep>> = {
  openai: ({ window, input, output }) =>
    fails({
      status: 400,
      message:
        output > 0
          ? `This model's maximum context length is ${window} tokens. However, you requested ${input + output} tokens (${input} in the messages, ${output} in the completion). Please reduce the length of the messages or completion.`
          : `This model's maximum context length is ${window} tokens. However, your messages resulted in ${input} tokens. Please reduce the length of the messages.`,
    }),
  anthropic: ({ window, input, output }) =>
    fails({
      status: 400,
      message:
        input > window
          ? `prompt is too long: ${input} tokens > ${window} maximum`
          : `input length and \`max_tokens\` exceed context limit: ${input} + ${output} > ${window}, decrease input length or \`max_tokens\` and try again`,
    }),
  groq: ({ window, input, output }) =>
    fails({
      status: 429,
      message: `Request too large for model \`m\` in organization \`o\` service tier \`on_demand\` on tokens per minute (TPM): Limit ${window}, Requested ${input + output}, please reduce your message size and try again.`,
    }),
  bedrock: () =>
    fails({ status: 400, message: 'ValidationException: Input is too long for requested model.' }),
};

export function usageOf(request: RecordedRequest, counting: Counting): ProviderUsage {
  const promptTokens = countTokens(request, counting);
  return { promptTokens, completionTokens: 1, totalTokens: promptTokens + 1 };
}

function textsOf(message: ProviderMessage): string[] {
  const { content } = message;
  const own = content === null || typeof content === 'string' ? [content ?? ''] : [JSON.stringify(content)];
  return message.role === 'assistant' && message.toolCalls
    ? [...own, JSON.stringify(message.toolCalls)]
    : own;
}
