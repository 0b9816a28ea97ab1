/**
 * Estimates how many tokens of a model's window messages take: the one estimator of all that is sent, read, summarised, reserved and
 * logged. Providers count differently, and report only afterwards: a scale has what their reports have taught (model-count.ts).
 * Images and what surrounds a message are estimated apart from its texts, so that they do not distort the scale.
 */

import { isImageType } from '../file/mime-type.ts';
import type { AnswerParts } from '../message/answer-parts.ts';
import type { ProviderMessage, ProviderRequest } from '../message/provider.ts';
import type { ContextMessage } from './context.ts';
import { charactersPerToken } from './token-ratio.ts';

/** Tokens of an image or a file, close to what providers count. */
export const PART_TOKENS = 1000;
/** Tokens of a message's role and separators. */
export const MESSAGE_TOKENS = 4;
/** Tokens of the line for a file that is named and not shown. */
const LINE_TOKENS = 40;
/** Share of the room for messages that one message gets which no room could hold. */
export const CUT_SHARE = 0.4;

export interface Scale {
  /** Characters per token; by the script of each text if absent. */
  readonly ratio?: number;
  /** Characters of a message above which it is cut; absent if none has been cut. */
  readonly longest?: number;
  /** Tokens for all messages: one that would exceed them alone is cut. */
  readonly room?: number;
}

export function estimateText(text: string | null | undefined, ratio?: number): number {
  const length = text?.length ?? 0;
  return length === 0 ? 0 : Math.ceil(length / (ratio ?? charactersPerToken(text as string)));
}

export function estimateJson(value: unknown, ratio?: number): number {
  return value === undefined || value === null ? 0 : estimateText(JSON.stringify(value), ratio);
}

type Offered = Pick<ProviderRequest, 'tools' | 'responseFormat'>;

/** Tokens of what a request has beside its messages. */
export function estimateOffered({ tools = [], responseFormat }: Offered, ratio?: number): number {
  return (tools.length > 0 ? estimateJson(tools, ratio) : 0) + estimateJson(responseFormat, ratio);
}

export function estimateRequest(
  { messages, ...offered }: Pick<ProviderRequest, 'messages'> & Offered,
  ratio?: number,
): number {
  return messages.reduce(
    (sum, each) => sum + estimateProviderMessage(each, ratio),
    estimateOffered(offered, ratio),
  );
}

type Counted = Pick<ContextMessage, 'role' | 'content' | 'tool_calls' | 'attachments' | 'parts'>;

/** `past`: tool calls are left out, as with `includePastTools: false`. `recent`: the message's images are shown. `own`: the message
 * is of the running execution, whose answers keep their parts. */
export function estimateMessage(
  { content, tool_calls: calls, attachments, parts }: Counted,
  { past, recent, own }: { readonly past: boolean; readonly recent: boolean; readonly own?: boolean },
  scale: Scale = {},
): number {
  const files = (attachments ?? []).map(({ mimeType }) =>
    recent && isImageType(mimeType) ? PART_TOKENS : LINE_TOKENS,
  );
  const called = (past ? 0 : estimateText(calls, scale.ratio)) + (own ? estimateText(parts, scale.ratio) : 0);
  return files.reduce((sum, each) => sum + each, MESSAGE_TOKENS + estimateShown(content, scale) + called);
}

/** Tokens of a text as it is sent: cut if it is too long. */
function estimateShown(text: string | null | undefined, { ratio, longest, room }: Scale): number {
  const whole = estimateText(text, ratio);
  const length = text?.length ?? 0;
  if (longest !== undefined) return length > longest ? Math.ceil((whole * longest) / length) : whole;
  return room !== undefined && whole > room ? Math.floor(room * CUT_SHARE) : whole;
}

export function estimateProviderMessage(message: ProviderMessage, ratio?: number): number {
  const { content } = message;
  const own = Array.isArray(content)
    ? content.reduce(
        (sum, part) => sum + (part.type === 'text' ? estimateText(part.text, ratio) : PART_TOKENS),
        0,
      )
    : typeof content === 'string'
      ? estimateText(content, ratio)
      : estimateJson(content, ratio);
  const said = message.role === 'assistant' ? estimateAnswer(message, ratio) : 0;
  const files = message.role === 'tool' ? (message.attachments?.length ?? 0) * PART_TOKENS : 0;
  return MESSAGE_TOKENS + own + said + files;
}

type AssistantMessage = Extract<ProviderMessage, { role: 'assistant' }>;

function estimateAnswer(message: AssistantMessage, ratio?: number): number {
  const { toolCalls, reasoning, reasoningDetails, parts } = message;
  const thought = reasoningDetails ? estimateJson(reasoningDetails, ratio) : estimateText(reasoning, ratio);
  return estimateJson(toolCalls, ratio) + (parts ? estimateParts(parts, ratio) : thought);
}

/** What goes back to a provider besides text and calls. */
function estimateParts({ list }: AnswerParts, ratio?: number): number {
  return list.reduce((sum, part) => {
    const own = part.type === 'reasoning' ? part.text : part.type === 'other' ? part.value : null;
    return sum + estimateJson(part.metadata, ratio) + estimateJson(own, ratio);
  }, 0);
}
