/** Measures, assembles and reports the chunks of an answer, whether it is whole or streamed. */

import type { ProviderRequest, ProviderStreamChunk } from '../core/message/provider.ts';
import { LIMITS, utf8Length } from '../core/value/limit.ts';
import { createAccumulator } from './accumulate.ts';
import { answerJson, tooLarge } from './answer-failure.ts';
import { readChunk } from './read-chunk.ts';

/** `input`: the arguments of a call. */
export type DeltaKind = 'content' | 'reasoning' | 'input';

export interface StreamedCall {
  readonly callId: string;
  readonly name: string;
}

/** `call`: with `input`. */
export type OnDelta = (kind: DeltaKind, delta: string, call?: StreamedCall) => void;

export function createAnswerReader(request: ProviderRequest, { onDelta }: { readonly onDelta: OnDelta }) {
  const accumulator = createAccumulator();
  const meter = createAnswerMeter();
  const names = new Map<string, string>();

  function report(chunk: ProviderStreamChunk): void {
    if (chunk.type === 'content-delta') onDelta('content', chunk.delta);
    else if (chunk.type === 'reasoning-delta' && !request.reasoning?.exclude)
      onDelta('reasoning', chunk.delta);
    else if (chunk.type === 'tool-call-start') names.set(chunk.id, chunk.name);
    else if (chunk.type === 'tool-call-delta') {
      const { id: callId, argumentsDelta } = chunk;
      const name = names.get(callId);
      // A call without an id gets one with the answer, and one that names nothing is dropped.
      if (callId !== '' && name && !/^\s*(none)?\s*$/i.test(name))
        onDelta('input', argumentsDelta, { callId, name });
    }
  }

  return {
    /** Adds one chunk and returns its kind. */
    take(value: unknown): string {
      const chunk = readChunk(value);
      if (typeof chunk === 'string') {
        accumulator.ignore(chunk);
        return chunk;
      }
      meter.add(chunk);
      accumulator.add(chunk);
      report(chunk);
      return chunk.type;
    },
    end: () => ({ response: accumulator.response(), ignored: accumulator.ignored }),
  };
}

/**
 * Measures a model's answer while it arrives, for every backend, and throws `AnswerTooLarge` if it exceeds `LIMITS`.
 * The meter itself keeps only counts.
 * - Names and ids must be short texts: they enter the store and its log unchanged.
 */
interface AnswerMeter {
  /** Counts a chunk. Throws `AnswerTooLarge` if a limit is exceeded, `InvalidAnswer` if a part of it is not JSON. */
  add(chunk: ProviderStreamChunk): void;
}

function createAnswerMeter(): AnswerMeter {
  const chunks = counter('chunks', LIMITS.answerChunks);
  const text = counter('bytes of text', LIMITS.answerTextBytes);
  const reasoning = counter('bytes of reasoning', LIMITS.answerReasoningBytes);
  const calls = counter('tool calls', LIMITS.answerCalls);
  const done = counter('tool calls', LIMITS.answerCalls);
  const streamed = createArgumentCounter();
  const whole = createArgumentCounter();
  const executed = counter('tools that the provider ran', LIMITS.answerCalls);
  const images = counter('images', LIMITS.attachments);
  const imageBytes = counter('bytes of images in base64', LIMITS.answerImageBytes);
  return {
    add(chunk) {
      chunks(1);
      switch (chunk.type) {
        case 'content-delta':
          return text(utf8Length(chunk.delta));
        case 'reasoning-delta':
          return reasoning(utf8Length(chunk.delta));
        case 'tool-call-start':
          calls(1);
          return checkCall(chunk);
        case 'tool-call-delta':
          return streamed(chunk.id, utf8Length(chunk.argumentsDelta));
        case 'tool-call-done':
          done(1);
          checkCall(chunk);
          // Counted separately: the final chunk may contain more than was streamed. Keyed by position: two calls may
          // have the same id.
          return whole(`${done(0)}`, bytesOf(chunk.arguments ?? ''));
        case 'image-done':
          images(1);
          return void imageBytes(chunk.image.data.length);
        case 'web-search-done':
        case 'provider-tool-done':
          executed(1);
          return checkExecuted(chunk);
        case 'finish':
          return void reasoning(bytesOf(chunk.reasoningDetails ?? ''));
      }
    },
  };
}

/** Adds to a total and returns it. Throws `AnswerTooLarge` if the total exceeds its limit. */
type Count = (amount: number) => number;

function counter(what: string, limit: number): Count {
  let total = 0;
  return (amount) => {
    total += amount;
    if (total > limit) throw tooLarge(`it has more than ${limit} ${what}`);
    return total;
  };
}

function createArgumentCounter(): (id: string, bytes: number) => void {
  const all = counter('bytes of arguments in all tool calls', LIMITS.answerArgumentBytes);
  const calls = new Map<string, Count>();
  return (id, bytes) => {
    all(bytes);
    const own = calls.get(id) ?? counter('bytes of arguments in one tool call', LIMITS.callArgumentBytes);
    calls.set(id, own);
    own(bytes);
  };
}

/** The name and the id of a call must be short. */
function checkCall({ id, name = '', extraContent }: NamedCall): void {
  checkLength('the name of a tool', name, LIMITS.callNameChars);
  checkLength('the id of a tool call', id, LIMITS.callIdChars);
  if (extraContent === undefined) return;
  counter('bytes of extra content of a tool call', LIMITS.callArgumentBytes)(bytesOf(extraContent));
}

interface NamedCall {
  readonly id: string;
  readonly name?: string;
  readonly extraContent?: unknown;
}

function checkLength(what: string, text: string, limit: number): void {
  if (text.length > limit) throw tooLarge(`${what} has more than ${limit} characters`);
}

type ExecutedChunk = Extract<ProviderStreamChunk, { type: 'web-search-done' | 'provider-tool-done' }>;

function checkExecuted(chunk: ExecutedChunk): void {
  const ran = chunk.type === 'provider-tool-done' ? chunk.tool : chunk.result;
  if (chunk.type === 'provider-tool-done') {
    checkLength('the name of a tool that the provider ran', chunk.tool.name, LIMITS.callNameChars);
    checkLength('the id of a tool that the provider ran', chunk.tool.id, LIMITS.callIdChars);
  }
  counter('bytes of a tool that the provider ran', LIMITS.executedToolBytes)(bytesOf(ran));
}

function bytesOf(value: unknown): number {
  return utf8Length(typeof value === 'string' ? value : answerJson(value, 'a part of it'));
}
