/** Plays one step of a script as a provider's stream: the one place that interprets a step. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ProviderError, type ProviderStreamChunk, type ProviderUsage } from '../core/message/provider.ts';
import type { AnswerStep, RecordedRequest, ScriptStep } from './script.ts';

export interface PlayedStep {
  readonly step: ScriptStep;
  readonly request: RecordedRequest;
  readonly responseId: string;
  /** Id for a call to which the script gives none. */
  readonly callId: (position: number) => string;
  readonly signal: AbortSignal;
}

/** Throws the step's ProviderError, or the signal's reason once that is aborted. */
export async function* playStep(played: PlayedStep): AsyncGenerator<ProviderStreamChunk> {
  const { step, signal } = played;
  signal.throwIfAborted();
  if (step.delayMs !== undefined) await pause(step.delayMs, signal);
  switch (step.kind) {
    case 'answer':
      yield* playAnswer(step, played);
      return;
    case 'failure':
      throw new ProviderError(step.message, step.code, step.status, step.retryAfter);
    case 'hang':
      if (step.after !== undefined) yield { type: 'content-delta', delta: step.after };
      return await untilAborted(signal);
    case 'disconnect':
      if (step.after !== undefined) yield { type: 'content-delta', delta: step.after };
      throw new ProviderError(
        'The connection was closed by the scripted model (ECONNRESET).',
        'server_error',
      );
  }
}

async function* playAnswer(step: AnswerStep, played: PlayedStep): AsyncGenerator<ProviderStreamChunk> {
  const { request, responseId, callId, signal } = played;
  if (step.reasoning !== undefined) {
    yield { type: 'reasoning-delta', delta: step.reasoning };
    yield { type: 'reasoning-done' };
  }
  for (const [index, delta] of splitText(step.text ?? '', step.chunks).entries()) {
    if (index > 0 && step.chunkDelayMs > 0) await pause(step.chunkDelayMs, signal);
    signal.throwIfAborted();
    yield { type: 'content-delta', delta };
  }
  if (step.text !== null) yield { type: 'content-done' };
  for (const [position, call] of step.toolCalls.entries()) {
    const { name, args = {}, id = callId(position) } = call;
    yield* playCall(id, name, typeof args === 'string' ? args : JSON.stringify(args));
  }
  const finishReason = step.toolCalls.length > 0 ? 'tool_calls' : 'stop';
  yield { type: 'finish', finishReason, usage: step.usage ?? countTokens(step, request), responseId };
}

function* playCall(id: string, name: string, text: string): Generator<ProviderStreamChunk> {
  yield { type: 'tool-call-start', id, name };
  for (const argumentsDelta of splitText(text, 2)) yield { type: 'tool-call-delta', id, argumentsDelta };
  yield { type: 'tool-call-done', id, name, arguments: text };
}

/** Pieces of about the same length, never empty, never within a character. */
function splitText(text: string, pieces: number): string[] {
  const characters = Array.from(text);
  const length = Math.max(1, Math.ceil(characters.length / Math.max(1, pieces)));
  const starts = Array.from({ length: Math.ceil(characters.length / length) }, (_, index) => index * length);
  return starts.map((start) => characters.slice(start, start + length).join(''));
}

/** Deterministic: the same request and answer always have the same usage. */
function countTokens(step: AnswerStep, request: RecordedRequest): ProviderUsage {
  const promptTokens = Math.ceil(JSON.stringify(request.messages).length / 4);
  const answered = (step.text ?? '') + (step.toolCalls.length > 0 ? JSON.stringify(step.toolCalls) : '');
  const completionTokens = Math.ceil(answered.length / 4);
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
