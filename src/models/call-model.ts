/**
 * Gets one answer for one model step: attempts on the primary model, then on each fallback in order (definitions §4). A
 * stream that breaks is followed by a plain (not streamed) call of the same model (attempt-plan.ts, P1), which is a
 * separate attempt; nothing of the stream is kept.
 *
 * I1. An abort ends everything at once with the signal's reason, and never leads to a retry or a fallback.
 * I2. Any other failure is a value; nothing else is thrown, except what the caller's own callbacks throw.
 * I3. Each attempt is announced before its request is sent, and its end is reported before the next one begins, so that
 *     the caller can store each as a model call. An aborted attempt has no reported end: its caller aborted it.
 * I4. `onWaiting` is called at most once, and never after an answer has begun.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelDefinition } from '../core/author/definition.ts';
import { ProviderError, type ProviderResponse } from '../core/message/provider.ts';
import type { DeltaKind, OnDelta, StreamedCall } from './answer-reader.ts';
import { type AttemptResult, type FailedAnswer, runAttempt, type ToRequest } from './attempt.ts';
import {
  type AttemptLimits,
  limitsOf,
  type NextMove,
  patienceMs,
  planAfterFailure,
  requestTimeoutMs,
} from './attempt-plan.ts';
import { createFeedback, type Feedback } from './feedback.ts';
import { asksForVariables, type VariableLookup } from './provider-config.ts';
import { refusesMetadata, withoutMetadata } from './refused-metadata.ts';

export interface AttemptStart {
  /** 1 for the first attempt of the step; counts on across fallbacks. */
  readonly attempt: number;
  /** `name` is the model's own name, `model` the provider's id. */
  readonly model: ModelDefinition;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

export interface AttemptEnd extends AttemptStart {
  /** Milliseconds since 1970. */
  readonly endedAt: number;
  readonly outcome: AttemptOutcome;
}

export type AttemptOutcome =
  /** `firstTokenAt`: milliseconds since 1970. `ignored`: kinds of chunks that the response leaves out. */
  | {
      readonly ok: true;
      readonly response: ProviderResponse;
      readonly firstTokenAt: number;
      readonly ignored: readonly string[];
      /** Set if the provider reported its cached tokens beside `promptTokens`. */
      readonly leftCacheOut?: true;
    }
  | {
      readonly ok: false;
      readonly error: ProviderError;
      readonly next: 'retry' | 'plain' | 'fallback' | 'give_up';
      /** With `next: 'retry'`. */
      readonly willRetryInMs?: number;
      /** With `next: 'retry'`: what providers want back with answers is left out. */
      readonly withoutMetadata?: true;
    };

export interface AttemptChunk {
  readonly attempt: number;
  readonly kind: DeltaKind;
  readonly delta: string;
  /** With the kind `input`. */
  readonly call?: StreamedCall;
}

export interface CallModelOptions {
  /** The primary model first, then its fallbacks. */
  readonly models: readonly ModelDefinition[];
  /** The request for this model; `signal` is added here. */
  readonly request: ToRequest;
  /** Reads the variables that may be settings of a provider; called only if a provider's factory needs some. */
  readonly variables?: () => Promise<VariableLookup>;
  readonly signal: AbortSignal;
  /** Called before the request is sent; awaited. */
  readonly onAttempt?: (start: AttemptStart) => Promise<void> | void;
  /**
   * Milliseconds left for the attempt that `onAttempt` announced last. An attempt that is cut off by this limit is
   * announced again at once; `onAttempt` throws if it may not be repeated.
   */
  readonly leftMs?: () => number | undefined;
  /** Called if no answer has begun within the model's `feedbackMs`; synchronous, must not throw. */
  readonly onWaiting?: (start: AttemptStart) => void;
  /** Called for each piece of text or reasoning; synchronous, must not throw: collect here, write elsewhere. */
  readonly onChunk?: (chunk: AttemptChunk) => void;
  /** Called after an attempt; awaited before anything else happens. */
  readonly onAttemptEnd?: (end: AttemptEnd) => Promise<void> | void;
  readonly limits?: Partial<AttemptLimits>;
  /** Waits between attempts; must resolve or reject when the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** `attempts` is the number of requests; `error` is the error of the last one. */
export type CallModelResult =
  | {
      readonly ok: true;
      readonly response: ProviderResponse;
      readonly model: ModelDefinition;
      readonly attempts: number;
    }
  | { readonly ok: false; readonly error: ProviderError; readonly attempts: number };

/** Calls the models until one answers or the last one has failed. Throws the signal's reason on an abort. */
export async function callModel(options: CallModelOptions): Promise<CallModelResult> {
  const { models } = options;
  const feedback = createFeedback(options.onWaiting);
  let attempts = 0;
  for (const [position, model] of models.entries()) {
    const modelsLeft = models.length - position - 1;
    const limits = { ...limitsOf(model.timeouts), ...options.limits };
    const asked = { model, limits, modelsLeft, until: performance.now() + patienceMs(limits) };
    const { outcome, tries } = await askOne(options, asked, attempts, feedback);
    attempts += tries;
    if (outcome.ok) return { ok: true, response: outcome.response, model, attempts };
    if (outcome.next === 'give_up') return { ok: false, error: outcome.error, attempts };
  }
  return noModelResult();
}

/** One model of the list. */
interface AskedModel {
  readonly model: ModelDefinition;
  readonly limits: AttemptLimits;
  /** Models not tried yet. */
  readonly modelsLeft: number;
  /** Time on the clock of `performance.now` after which this model gets no further attempt (attempt-plan.ts, P2). */
  readonly until: number;
}

/** Makes attempts at one model until it answers, or the plan is to use the next model or to give up. */
async function askOne(
  options: CallModelOptions,
  asked: AskedModel,
  before: number,
  feedback: Feedback<AttemptStart>,
): Promise<{ readonly outcome: AttemptOutcome; readonly tries: number }> {
  const { wait = pause } = options;
  let plain = false;
  let bare = false;
  let wentPlain = false;
  let stalled = false;
  for (let tries = 1; ; tries += 1) {
    const plan: Plan = (failed, leftMs) => {
      stalled ||= failed.stalled;
      const { limits, modelsLeft, model } = asked;
      if (!bare && refusesMetadata(failed.error, options.request(model, {}))) {
        bare = true;
        return { next: 'retry', willRetryInMs: 0, withoutMetadata: true };
      }
      return planAfterFailure({ ...failed, stalled, wentPlain, tries, modelsLeft, leftMs }, limits);
    };
    const outcome = await reportedAttempt(
      options,
      asked,
      { attempt: before + tries, plain, bare, plan },
      feedback,
    );
    if (outcome.ok || outcome.next === 'fallback' || outcome.next === 'give_up') return { outcome, tries };
    if (outcome.next === 'retry') await wait(outcome.willRetryInMs ?? 0, options.signal);
    plain = outcome.next === 'plain';
    wentPlain ||= plain;
  }
}

/** The number of an attempt, its mode, and the plan that decides what follows it. */
interface AttemptPosition {
  readonly attempt: number;
  readonly plain: boolean;
  /** True if what providers want back with answers is left out (refused-metadata.ts). */
  readonly bare: boolean;
  readonly plan: Plan;
}

type Plan = (failed: FailedAnswer, leftMs: number) => NextMove;

async function reportedAttempt(
  options: CallModelOptions,
  { model, limits, until }: AskedModel,
  { attempt, plain, bare, plan }: AttemptPosition,
  feedback: Feedback<AttemptStart>,
): Promise<AttemptOutcome> {
  const { signal, now = Date.now } = options;
  const request: ToRequest = bare
    ? (...given) => withoutMetadata(options.request(...given))
    : options.request;
  signal.throwIfAborted();
  const start: AttemptStart = { attempt, model, startedAt: now() };
  await options.onAttempt?.(start);
  const leftMs = options.leftMs?.() ?? Number.POSITIVE_INFINITY;
  const sentAt = performance.now();
  const onDelta: OnDelta = (kind, delta, call) =>
    options.onChunk?.({ attempt, kind, delta, ...(call && { call }) });
  const variable = asksForVariables(model) ? await options.variables?.() : undefined;
  feedback.begin(start, limits);
  const result = await runAttempt({
    ...{ model, request, variable, signal, plain, onDelta, now },
    limits: withinTime(limits, Math.min(leftMs, until - sentAt)),
    requestTimeoutMs: requestTimeoutMs(limits),
    onBegin: () => feedback.end(true),
  }).finally(() => feedback.end(false));
  const outcome = toOutcome(result, (failed) => {
    const endedAt = performance.now();
    if (endedAt - sentAt >= leftMs) return { next: 'retry', willRetryInMs: 0 };
    return plan(failed, until - endedAt);
  });
  await options.onAttemptEnd?.({ ...start, endedAt: now(), outcome });
  return outcome;
}

function withinTime(limits: AttemptLimits, leftMs: number): AttemptLimits {
  const { totalMs, generateMs } = limits;
  return { ...limits, totalMs: Math.min(totalMs, leftMs), generateMs: Math.min(generateMs, leftMs) };
}

function toOutcome(result: AttemptResult, plan: (failed: FailedAnswer) => NextMove): AttemptOutcome {
  return result.ok ? result : { ok: false, error: result.error, ...plan(result) };
}

function noModelResult(): CallModelResult {
  const error = new ProviderError('No model to call: the list of models is empty.', 'invalid_request');
  return { ok: false, error, attempts: 0 };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // The abort is thrown, with its own reason, before the next attempt (I1).
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
