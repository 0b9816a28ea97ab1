/**
 * Stages that make the answer of a step of a model's response (runtime §3.3): images become files (definitions §5.3, §15.4),
 * its calls become calls that can be stored and begun (`core/answer/clean-calls.ts`), and content and metadata are composed.
 */

import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import type { HookBlocked } from '../../author/hooks/assembly-hooks.ts';
import { go } from '../../author/policy/gate.ts';
import { storeAttachments } from '../../author/state/attachments.ts';
import { createIds } from '../../author/state/id.ts';
import { type CleanCall, type CleanedCalls, cleanCalls } from '../../core/answer/clean-calls.ts';
import { extensionOf } from '../../core/file/mime-type.ts';
import { sealParts } from '../../core/message/answer-parts.ts';
import type { AttachmentRef, ToolCall } from '../../core/message/message.ts';
import type { ProviderResponse } from '../../core/message/provider.ts';
import type { ProviderImage } from '../../core/message/provider-terms.ts';
import type { ActiveSide } from '../../core/project/active-side.ts';
import { isRuntimeError, isStoreFault } from '../../core/value/error.ts';
import { definedFields } from '../../core/value/record.ts';
import type { StepContext } from '../../store/step/step-place-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import { executedMetadata } from '../model/provider-tools.ts';
import { offerTools } from '../model/request.ts';
import type { AssembledRequest, ModelResponse } from './ask-models.ts';
import { type StepHooks, textDigest } from './assemble.ts';
import type { StepAnswer } from './commit-answer.ts';

type AskedAnswer = AssembledRequest & ModelResponse;

export interface CleanedAnswer {
  /** The response, with its calls as they are stored. */
  readonly response: ProviderResponse;
  readonly cleaned: CleanedCalls;
}

export function cleanAnswer(
  { registry }: Pick<ActivityDependencies, 'registry'>,
  { ref, active, subagents, mcp, model, response }: AskedAnswer,
) {
  const offered = () => offeredNames({ registry, active, subagents, mcp, model });
  const cleaned = cleanCalls(response, { step: ref.step, offered });
  const { toolCalls: _, finishReason, ...answer } = response;
  const toolCalls = cleaned.calls.map(({ call }) => call);
  if (toolCalls.length === 0) return go({ response: { ...answer, finishReason }, cleaned });
  const ended = finishReason === 'stop' ? 'tool_calls' : finishReason;
  return go({ response: { ...answer, finishReason: ended, toolCalls }, cleaned });
}

/** Names that a call written as text may use: the functions that this model was offered. */
function offeredNames({
  registry,
  active,
  subagents,
  mcp,
  model,
}: Pick<AskedAnswer, 'active' | 'subagents' | 'mcp' | 'model'> & Pick<ActivityDependencies, 'registry'>) {
  const { supportsToolCalls } = model.capabilities;
  if (supportsToolCalls === false || active.prompt.toolChoice === 'none') return new Set<string>();
  const functions = offerTools(registry(), active, { model, tools: {} }, { subagents, mcp });
  return new Set(
    functions.filter(({ executionMode }) => executionMode !== 'provider').map((tool) => tool.function.name),
  );
}

export interface AnswerImages {
  readonly attachments?: readonly AttachmentRef[];
  /** Why the images are missing: the rest of the answer is kept, since it has been paid for. */
  readonly lostImages?: string;
}

export async function storeImages(
  { store, handover }: ActivityDependencies,
  { ref, context: { thread }, response }: AskedAnswer,
) {
  const { images = [] } = response;
  if (images.length === 0) return go({});
  const files = images.map(toFile);
  try {
    const attachments = await retryWhileUnavailable(abortSignal(handover), () => {
      // Ids follow from the step, so each attempt stores the same files.
      const nextId = createIds(store, `${thread.id}:${ref.step}:image`);
      return storeAttachments({ store, threadId: thread.id, nextId }, files);
    });
    return go({ attachments });
  } catch (error) {
    if (!isRuntimeError(error) || isStoreFault(error)) throw error;
    return go({ lostImages: error.message });
  }
}

function toFile({ data, mediaType, revisedPrompt }: ProviderImage, index: number) {
  const name = `image-${index + 1}${extensionOf('', mediaType)}`;
  return { name, mimeType: mediaType, data, description: revisedPrompt || undefined };
}

export function composeAnswer(
  _ports: unknown,
  {
    context,
    active,
    response,
    model,
    call,
    attachments,
    lostImages,
    cleaned: { calls, dropped, raw },
  }: AskedAnswer & AnswerImages & CleanedAnswer,
) {
  const content = finalContent(response, active, context);
  const isUnchanged = dropped === 0 && calls.every(({ repairs }) => repairs.length === 0);
  const said = { content, reasoning: response.reasoning, toolCalls: calls.map((each) => each.call) };
  return go({
    answer: {
      content,
      toolCalls: calls.map(toToolCall),
      repaired: { repairs: calls.map(({ repairs }) => repairs), dropped },
      model: model.name,
      finishReason: response.finishReason,
      usage: response.usage,
      prompt: active.prompt.name,
      reasoning: response.reasoning ?? undefined,
      // A repaired call is not the one that the provider's metadata is about.
      parts: isUnchanged ? sealParts(response.parts, said, textDigest) : undefined,
      metadata: {
        ...executedMetadata(response),
        ...definedFields({
          reasoningDetails: response.reasoningDetails,
          lostImages,
          rawCalls: raw.length > 0 ? raw : undefined,
        }),
      },
      attachments,
      call,
    },
  });
}

/**
 * Composes the answer after a hook refused the request: no model is asked, and the hook's message is the answer that
 * ends the execution. It is redacted like a failure, since it is made of what the hook has seen.
 */
export async function composeBlocked(
  { env }: Pick<StepHooks, 'env'>,
  { message, hookId }: HookBlocked,
  { prompt }: ActiveSide,
): Promise<StepAnswer> {
  const { error: content = '' } = await env.redact({ status: 'error', error: message });
  return {
    content,
    toolCalls: [],
    model: '',
    finishReason: 'hook_blocked',
    usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
    ends: 'blocked',
    prompt: prompt.name,
    metadata: { hookBlocked: hookId },
  };
}

/** The stop tool's argument may replace the answer (definitions §7.1, stopToolResponseProperty). */
function finalContent(
  response: ProviderResponse,
  { side }: ActiveSide,
  { subprompt }: StepContext,
): string | null {
  const { stopTool, stopToolResponseProperty: property } = side;
  if (subprompt || !stopTool || !property) return response.content;
  const call = response.toolCalls?.find(({ name }) => name === stopTool);
  const value = call?.arguments[property];
  return typeof value === 'string' ? value : response.content;
}

function toToolCall({ call }: CleanCall): ToolCall {
  const { id, name, arguments: parsed, rawArguments, extraContent } = call;
  return {
    id,
    type: 'function',
    function: { name, arguments: rawArguments ?? JSON.stringify(parsed) },
    extra_content: extraContent,
  };
}
