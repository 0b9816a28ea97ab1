/**
 * The steps of a script: what a scripted model answers, one step per request. Plain data, made by small functions.
 * Every step can be delayed; a step may also be a function of the request.
 */
import type { ProviderErrorCode, ProviderRequest, ProviderUsage } from '../core/message/provider.ts';
import { codeFromStatus } from '../models/classify.ts';

/** A request as the model received it, without its signal; plain JSON, frozen. */
export type RecordedRequest = Omit<ProviderRequest, 'signal'>;

export interface ScriptedCall {
  readonly name: string;
  /** A string is sent unchanged, for arguments that are not valid JSON. */
  readonly args?: Readonly<Record<string, unknown>> | string;
  /** Default: `call_<n>`, counted over the script's life; see `scriptedModel`. */
  readonly id?: string;
}

/** Optional delay of any step. */
export interface Delayed {
  /** Milliseconds before the answer begins. */
  readonly delayMs?: number;
}

export interface AnswerStep extends Delayed {
  readonly kind: 'answer';
  readonly text: string | null;
  readonly reasoning?: string;
  readonly toolCalls: readonly ScriptedCall[];
  /** Pieces in which the text is streamed. */
  readonly chunks: number;
  /** Milliseconds before each piece but the first. */
  readonly chunkDelayMs: number;
  /** Default: a quarter of a token per character. */
  readonly usage?: ProviderUsage;
}

export interface FailureStep extends Delayed {
  readonly kind: 'failure';
  readonly status: number;
  readonly code: ProviderErrorCode;
  readonly message: string;
  /** Seconds. */
  readonly retryAfter?: number;
}

export interface HangStep extends Delayed {
  readonly kind: 'hang';
  /** Text that is streamed before the stall. */
  readonly after?: string;
}

export interface DisconnectStep extends Delayed {
  readonly kind: 'disconnect';
  /** Text that is streamed before the connection breaks. */
  readonly after?: string;
}

export type ScriptStep = AnswerStep | FailureStep | HangStep | DisconnectStep;

/** `index` counts the script's requests from 0. */
export type ScriptFunction = (request: RecordedRequest, index: number) => ScriptStep | Promise<ScriptStep>;

export interface SaysOptions {
  /** Default: 2, so that the text is streamed in more than one piece. */
  readonly chunks?: number;
  readonly chunkDelayMs?: number;
  readonly reasoning?: string;
  readonly usage?: ProviderUsage;
}

/**
 * Answers with a text.
 * @example
 * ```ts
 * const model = scriptedModel([says('Your order is on its way.', { chunks: 4 })]);
 * ```
 */
export function says(text: string, options: SaysOptions = {}): AnswerStep {
  return answer(text, [], options);
}

export interface CallsOptions extends SaysOptions {
  /** Text before the call. */
  readonly text?: string;
}

/**
 * Calls one tool.
 * @example
 * ```ts
 * const model = scriptedModel([calls('find_order', { id: '4711' }), says('Found it.')]);
 * ```
 */
export function calls(
  name: string,
  args: ScriptedCall['args'] = {},
  options: CallsOptions & { readonly id?: string } = {},
): AnswerStep {
  return callsMany([{ name, args, id: options.id }], options);
}

/**
 * Calls several tools in one answer, in this order.
 * @example
 * ```ts
 * const model = scriptedModel([callsMany([{ name: 'one' }, { name: 'two', args: { n: 2 } }]), says('Both done.')]);
 * ```
 */
export function callsMany(toolCalls: readonly ScriptedCall[], options: CallsOptions = {}): AnswerStep {
  return answer(options.text ?? null, toolCalls, options);
}

export interface FailsOptions {
  /** HTTP status. Default: that of `code`, else 500. */
  readonly status?: number;
  /** Default: that of `status`. */
  readonly code?: ProviderErrorCode;
  readonly message: string;
  /** Seconds. */
  readonly retryAfter?: number;
}

/**
 * Fails before any answer.
 * @example
 * ```ts
 * const model = scriptedModel([fails({ code: 'rate_limit', message: 'slow down', retryAfter: 1 }), says('Here I am.')]);
 * ```
 */
export function fails({ status, code, message, retryAfter }: FailsOptions): FailureStep {
  const known = status ?? (code === undefined ? 500 : STATUS_OF_CODE[code]);
  return {
    kind: 'failure',
    status: known,
    code: code ?? codeFromStatus(known),
    message,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

/**
 * Delays a step.
 * @example
 * ```ts
 * const model = scriptedModel([delays(500, says('That took a while.'))]);
 * ```
 */
export function delays(ms: number, step: ScriptStep): ScriptStep {
  return { ...step, delayMs: ms + (step.delayMs ?? 0) };
}

/**
 * Never answers, or stalls after some text; ends only when the request is aborted.
 * @example
 * ```ts
 * const model = scriptedModel([hangs({ after: 'I was about to' })]);
 * ```
 */
export function hangs(options: { readonly after?: string } = {}): HangStep {
  return { kind: 'hang', ...options };
}

/**
 * Breaks the connection, at once or after some text.
 * @example
 * ```ts
 * const model = scriptedModel([disconnects({ after: 'The line is' }), says('I am back.')]);
 * ```
 */
export function disconnects(options: { readonly after?: string } = {}): DisconnectStep {
  return { kind: 'disconnect', ...options };
}

function answer(text: string | null, toolCalls: readonly ScriptedCall[], options: SaysOptions): AnswerStep {
  const { chunks = 2, chunkDelayMs = 0, reasoning, usage } = options;
  return {
    kind: 'answer',
    text,
    toolCalls,
    chunks,
    chunkDelayMs,
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(usage === undefined ? {} : { usage }),
  };
}

const STATUS_OF_CODE: Readonly<Record<ProviderErrorCode, number>> = {
  rate_limit: 429,
  auth_error: 401,
  invalid_request: 400,
  server_error: 500,
  timeout: 408,
  unknown: 500,
  AnswerTooLarge: 500,
  InvalidAnswer: 500,
};
