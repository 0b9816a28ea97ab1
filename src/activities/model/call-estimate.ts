/** What a request to a model may cost, before it is sent; and the request bounded to what a budget has left for it. */
import type { ModelDefinition } from '../../core/author/definition.ts';
import { estimateText } from '../../core/context/context-estimate.ts';
import type { CallEstimate } from '../../core/governance/reservation.ts';
import type { ProviderMessage, ProviderRequest } from '../../core/message/provider.ts';
import { MODEL_TIMEOUTS } from '../../core/value/limit.ts';

/** An image, a file: as providers count them, near enough. */
const PART_TOKENS = 1000;
/** Roles and separators. */
const MESSAGE_TOKENS = 4;
/** Between the last word of a request and the store's being told of it. */
const MARGIN_SECONDS = 60;

export function estimateCall(
  { inputPrice, outputPrice, timeouts }: ModelDefinition,
  { messages, tools, responseFormat, maxOutputTokens }: ProviderRequest,
): CallEstimate & { readonly leaseMs: number } {
  const { totalSeconds, plainSeconds } = { ...MODEL_TIMEOUTS, ...timeouts };
  const said = messages.reduce((sum, message) => sum + estimateMessage(message), 0);
  return {
    inputTokens: said + estimateJson(tools) + estimateJson(responseFormat),
    ...{ maxOutputTokens, inputPrice, outputPrice },
    leaseMs: (Math.max(totalSeconds, plainSeconds) + MARGIN_SECONDS) * 1000,
  };
}

function estimateMessage(message: ProviderMessage): number {
  const { content } = message;
  const own = Array.isArray(content)
    ? content.reduce((sum, part) => sum + (part.type === 'text' ? estimateText(part.text) : PART_TOKENS), 0)
    : typeof content === 'string'
      ? estimateText(content)
      : estimateJson(content);
  const calls = message.role === 'assistant' ? estimateJson(message.toolCalls) : 0;
  const files = message.role === 'tool' ? (message.attachments?.length ?? 0) * PART_TOKENS : 0;
  return MESSAGE_TOKENS + own + calls + files;
}

function estimateJson(value: unknown): number {
  return value === undefined || value === null ? 0 : estimateText(JSON.stringify(value));
}

export function withinBound(request: ProviderRequest, bound: number | undefined): ProviderRequest {
  return bound === undefined ? request : { ...request, maxOutputTokens: bound };
}
