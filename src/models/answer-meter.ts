/**
 * Measures a model's answer while it arrives, and refuses more than `LIMITS` allow with the code `AnswerTooLarge`, for every
 * backend; until then only counts have been kept.
 * M1. Names and ids enter the store and its log unchanged: they must be short texts.
 */

import {
  type ExecutedProviderTool,
  ProviderError,
  type ProviderResponse,
  type ProviderStreamChunk,
} from '../core/message/provider.ts';
import { LIMITS, utf8Length } from '../core/value/limit.ts';

export function tooLarge(what: string): ProviderError {
  return new ProviderError(
    `The model's answer was given up: ${what}. Ask it for less, or set another model as a fallback.`,
    'AnswerTooLarge',
  );
}

export interface AnswerMeter {
  /** Throws `AnswerTooLarge`, and `server_error` for a value that is not a text where one is required. */
  add(chunk: ProviderStreamChunk): void;
}

export function createAnswerMeter(): AnswerMeter {
  const chunks = counter('chunks', LIMITS.answerChunks);
  const text = counter('bytes of text', LIMITS.answerTextBytes);
  const reasoning = counter('bytes of reasoning', LIMITS.answerReasoningBytes);
  const calls = counter('tool calls', LIMITS.answerCalls);
  const executed = counter('tools that the provider ran', LIMITS.answerCalls);
  const streamed = createArgumentCounter();
  const whole = createArgumentCounter();
  const done = counter('tool calls', LIMITS.answerCalls);
  return {
    add(chunk) {
      chunks(1);
      if (chunk.type === 'content-delta') text(bytesOf(chunk.delta));
      else if (chunk.type === 'reasoning-delta') reasoning(bytesOf(chunk.delta));
      else if (chunk.type === 'tool-call-start') {
        calls(1);
        checkCall(chunk);
      } else if (chunk.type === 'tool-call-delta') streamed(chunk.id, bytesOf(chunk.argumentsDelta));
      else if (chunk.type === 'tool-call-done') {
        done(1);
        checkCall(chunk);
        // Not every backend streams all that its final chunk contains.
        whole(chunk.id, bytesOf(chunk.arguments));
      } else if (chunk.type === 'provider-tool-done') {
        executed(1);
        checkExecuted(chunk.tool);
      }
    },
  };
}

/** The same for an answer that arrived whole. */
export function checkAnswer({
  content,
  reasoning,
  toolCalls = [],
  providerTools = [],
}: ProviderResponse): void {
  counter('bytes of text', LIMITS.answerTextBytes)(bytesOf(content ?? ''));
  counter('bytes of reasoning', LIMITS.answerReasoningBytes)(bytesOf(reasoning ?? ''));
  counter('tool calls', LIMITS.answerCalls)(toolCalls.length);
  counter('tools that the provider ran', LIMITS.answerCalls)(providerTools.length);
  const count = createArgumentCounter();
  for (const [index, call] of toolCalls.entries()) {
    checkCall(call);
    // By their positions: two calls may have the same id.
    count(String(index), bytesOf(call.rawArguments ?? toJson(call.arguments)));
  }
  for (const tool of providerTools) checkExecuted(tool);
}

type Count = (amount: number) => void;

function counter(what: string, limit: number): Count {
  let total = 0;
  return (amount) => {
    total += amount;
    if (total > limit) throw tooLarge(`it has more than ${limit} ${what}`);
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

/** M1: a short text. */
function checkCall({ id, name }: { readonly id: string; readonly name: string }): void {
  checkLength('the name of a tool', name, LIMITS.callNameChars);
  checkLength('the id of a tool call', id, LIMITS.callIdChars);
}

function checkLength(what: string, text: string, limit: number): void {
  bytesOf(text);
  if (text.length > limit) throw tooLarge(`${what} has more than ${limit} characters`);
}

function checkExecuted(tool: ExecutedProviderTool): void {
  checkLength('the name of a tool that the provider ran', tool.name, LIMITS.callNameChars);
  checkLength('the id of a tool that the provider ran', tool.id, LIMITS.callIdChars);
  counter('bytes of a tool that the provider ran', LIMITS.executedToolBytes)(bytesOf(toJson(tool)));
}

/** Backends are foreign code: what they declare as a text may be any value. */
function bytesOf(text: unknown): number {
  if (typeof text === 'string') return utf8Length(text);
  throw new ProviderError(
    `The provider answered with ${text === null ? 'null' : `a value of type ${typeof text}`} where a text must be.`,
    'server_error',
  );
}

/** Too deep or too long to be written, or cyclic. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    throw tooLarge('a part of it is nested too deep to be written as JSON');
  }
}
