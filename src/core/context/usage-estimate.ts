/** Tokens that a provider did not report, or as 0, are estimated from the texts, and the usage is marked as estimated. Pure. */
import type { ProviderResponse, ProviderUsage } from '../message/provider.ts';
import { estimateText } from './context-estimate.ts';

type Answer = Pick<ProviderResponse, 'content' | 'reasoning' | 'toolCalls'>;

/** `estimatePrompt` is called only if it is needed. */
export function estimateMissing(
  usage: ProviderUsage,
  answer: Answer,
  estimatePrompt: () => number,
): ProviderUsage {
  const missing = (reported: number, estimate: () => number) => (reported > 0 ? reported : estimate());
  const promptTokens = missing(usage.promptTokens, estimatePrompt);
  const completionTokens = missing(usage.completionTokens, () => estimateAnswer(answer));
  if (promptTokens === usage.promptTokens && completionTokens === usage.completionTokens) return usage;
  const totalTokens = Math.max(usage.totalTokens, promptTokens + completionTokens);
  const { cost, ...counts } = usage;
  return {
    ...counts,
    promptTokens,
    completionTokens,
    totalTokens,
    estimated: true,
    ...(cost === undefined || cost === 0 ? {} : { cost }),
  };
}

function estimateAnswer({ content, reasoning, toolCalls = [] }: Answer): number {
  const calls = toolCalls.map(
    ({ name, arguments: parsed, rawArguments }) => name + (rawArguments ?? JSON.stringify(parsed)),
  );
  return [content, reasoning, ...calls].reduce((sum, text) => sum + estimateText(text), 0);
}
