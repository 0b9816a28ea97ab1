/** Translates answers of AI SDK language models, whole or streamed, for the provider port (definitions §5.3, §5.4). */
import {
  type ExecutedProviderTool,
  ProviderError,
  type ProviderResponse,
  type ProviderStreamChunk,
} from '../core/message/provider.ts';
import { isRecord } from '../core/value/record.ts';
import type { AiSdkAnswer, AiSdkLanguageModel, AiSdkPart, AiSdkStream } from './ai-sdk-model.ts';
import { collectParts, originOf } from './ai-sdk-parts.ts';
import { optionsKey } from './ai-sdk-request.ts';
import { toUsage } from './ai-sdk-usage.ts';
import { toFinishReason } from './finish-reason.ts';
import { parseToolCall } from './tool-arguments.ts';

export function fromAnswer(answer: AiSdkAnswer, model: AiSdkLanguageModel): ProviderResponse {
  const { content, finishReason, response } = answer;
  const reasoning = joinTexts(content, 'reasoning');
  const toolCalls = content
    .filter(isOwnToolCall)
    .map((part) => parseToolCall(part.toolCallId ?? '', part.toolName ?? '', toJsonText(part.input)));
  const providerTools = joinProviderTools(content, optionsKey(model));
  const collector = collectParts(originOf(model));
  for (const part of content) collector.add(part);
  const parts = collector.parts();
  return {
    content: joinTexts(content, 'text'),
    ...(reasoning === null ? {} : { reasoning }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(providerTools.length === 0 ? {} : { providerTools }),
    ...(parts === undefined ? {} : { parts }),
    finishReason: toFinishReason(wordsOf(finishReason), toolCalls.length > 0),
    usage: toUsage(answer, optionsKey(model)),
    ...(response?.id === undefined ? {} : { responseId: response.id }),
  };
}

/** Rejects with the error of an `error` part, and with 'server_error' when no `finish` part arrived. */
export async function* fromStream(
  stream: AiSdkStream,
  model: AiSdkLanguageModel,
): AsyncGenerator<ProviderStreamChunk> {
  const started = new Set<string>();
  const executed: AiSdkPart[] = [];
  const collector = collectParts(originOf(model));
  let finish: AiSdkPart | undefined;
  let responseId: string | undefined;
  let called = false;
  for await (const part of readParts(stream)) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'response-metadata') responseId = part.id ?? responseId;
    if (part.type === 'finish') finish = part;
    called ||= isOwnToolCall(part);
    collector.add(part);
    if (isProviderTool(part)) executed.push(part);
    yield* toChunks(part, started);
  }
  if (finish === undefined) {
    throw new ProviderError('The stream ended early; the answer is cut off.', 'server_error');
  }
  for (const tool of joinProviderTools(executed, optionsKey(model)))
    yield { type: 'provider-tool-done', tool };
  const finishReason = toFinishReason(wordsOf(finish.finishReason), called || started.size > 0);
  const parts = collector.parts();
  const usage = toUsage(finish, optionsKey(model));
  yield { type: 'finish', finishReason, usage, responseId, ...(parts && { parts }) };
}

async function* readParts(stream: AiSdkStream): AsyncGenerator<AiSdkPart> {
  const reader = stream.getReader();
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      if (step.value !== undefined) yield step.value;
    }
  } finally {
    // Closes the connection when reading stopped early; does nothing at the end.
    await reader.cancel().catch(() => undefined);
  }
}

function* toChunks(part: AiSdkPart, started: Set<string>): Generator<ProviderStreamChunk> {
  const { id = '', toolCallId = '', toolName: name = '', providerExecuted } = part;
  const delta = part.delta ?? '';
  if (part.type === 'text-delta' && delta !== '') yield { type: 'content-delta', delta };
  else if (part.type === 'text-end') yield { type: 'content-done' };
  else if (part.type === 'reasoning-delta' && delta !== '') yield { type: 'reasoning-delta', delta };
  else if (part.type === 'reasoning-end') yield { type: 'reasoning-done' };
  else if (part.type === 'tool-input-start' && !providerExecuted) {
    started.add(id);
    yield { type: 'tool-call-start', id, name };
  } else if (part.type === 'tool-input-delta' && started.has(id)) {
    yield { type: 'tool-call-delta', id, argumentsDelta: delta };
  } else if (isOwnToolCall(part)) {
    if (!started.has(toolCallId)) yield { type: 'tool-call-start', id: toolCallId, name };
    yield { type: 'tool-call-done', id: toolCallId, name, arguments: toJsonText(part.input) };
  }
}

/** True for a tool call that has to be run here; false for one that the provider runs itself. */
function isOwnToolCall(part: AiSdkPart): boolean {
  return part.type === 'tool-call' && part.providerExecuted !== true;
}

/** True for calls and results of tools that the provider runs itself; other tools have no results in an answer. */
function isProviderTool(part: AiSdkPart): boolean {
  return part.type === 'tool-result' || (part.type === 'tool-call' && part.providerExecuted === true);
}

function joinProviderTools(parts: readonly AiSdkPart[], provider: string): ExecutedProviderTool[] {
  const calls = parts.filter((part) => isProviderTool(part) && part.type === 'tool-call');
  // The last result of a call counts: earlier ones were preliminary.
  const results = new Map(
    parts.filter(({ type }) => type === 'tool-result').map((part) => [part.toolCallId, part]),
  );
  return calls.map(({ toolCallId: id = '', toolName: name = '', input }) => {
    const answer = results.get(id);
    const status = answer === undefined ? 'in_progress' : answer.isError ? 'failed' : 'completed';
    const result = answer === undefined ? {} : { result: answer.result };
    return { id, name, type: 'tool', provider, status, input, ...result };
  });
}

function toJsonText(input: unknown): string {
  return typeof input === 'string' ? input : JSON.stringify(input ?? {});
}

function joinTexts(content: readonly AiSdkPart[], type: 'text' | 'reasoning'): string | null {
  const texts = content.filter((part) => part.type === type).map((part) => part.text ?? '');
  return texts.length === 0 ? null : texts.join('');
}

/** v4 has the reason in the SDK's words, and in the provider's. */
function wordsOf(reason: unknown): readonly unknown[] {
  return isRecord(reason) ? [reason.unified, reason.raw] : [reason];
}
