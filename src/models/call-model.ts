/**
 * Gets one answer for one model step: attempts on the primary model, then on each fallback in order (definitions §4).
 *
 * I1. An abort ends everything at once with the signal's reason, and never leads to a retry or a fallback.
 * I2. Any other failure is a value; nothing else is thrown, except what the caller's own callbacks throw.
 * I3. Each attempt is announced before its request is sent, and its end is reported before the next one begins, so that
 *     the caller can store each as a model call. An aborted attempt has no reported end: its caller aborted it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelDefinition } from '../core/author/definition.ts';
import { ProviderError, type ProviderResponse } from '../core/message/provider.ts';
import { type AttemptResult, type DeltaKind, runAttempt, type ToRequest } from './attempt.ts';
import { type AttemptLimits, limitsOf, type NextMove, planAfterFailure } from './attempt-plan.ts';
import { asksForVariables, type VariableLookup } from './provider-config.ts';

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
    }
  | {
      readonly ok: false;
      readonly error: ProviderError;
      readonly next: 'retry' | 'fallback' | 'give_up';
      /** With `next: 'retry'`. */
      readonly willRetryInMs?: number;
    };

export interface AttemptChunk {
  readonly attempt: number;
  readonly kind: DeltaKind;
  readonly delta: string;
}

export interface CallModelOptions {
  /** The primary model first, then its fallbacks. */
  readonly models: readonly ModelDefinition[];
  /** The request for this model; `signal` is added here. */
  readonly request: ToRequest;
  /** Reads the variables that may be settings of a provider; called where a factory asks for some. */
  readonly variables?: () => Promise<VariableLookup>;
  readonly signal: AbortSignal;
  /** Called before the request is sent; awaited. */
  readonly onAttempt?: (start: AttemptStart) => Promise<void> | void;
  /** How long the attempt may take that was announced last. One that is cut off is announced anew at once: `onAttempt` knows whether it may be. */
  readonly leftMs?: () => number | undefined;
  /** Called for each piece of text or reasoning; synchronous, must not throw: collect here, write elsewhere. */
  readonly onChunk?: (chunk: AttemptChunk) => void;
  /** Awaited before anything else happens. */
  readonly onAttemptEnd?: (end: AttemptEnd) => Promise<void> | void;
  readonly limits?: Partial<AttemptLimits>;
  /** Pauses between attempts; resolves or rejects when the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** `attempts` is the number of requests; `error` is the last one's. */
export type CallModelResult =
  | {
      readonly ok: true;
      readonly response: ProviderResponse;
      readonly model: ModelDefinition;
      readonly attempts: number;
    }
  | { readonly ok: false; readonly error: ProviderError; readonly attempts: number };

/** Calls a model until an answer, the last failure, or an abort (thrown: the signal's reason). */
export async function callModel(options: CallModelOptions): Promise<CallModelResult> {
  const { models, wait = pause } = options;
  let position = 0;
  let tries = 0;
  for (let attempts = 1; ; attempts += 1) {
    const model = models[position];
    if (model === undefined) return nothingToCall();
    tries += 1;
    const place = { attempt: attempts, tries, modelsLeft: models.length - position - 1 };
    const limits = { ...limitsOf(model.timeouts), ...options.limits };
    const outcome = await reportedAttempt(options, limits, model, place);
    if (outcome.ok) return { ok: true, response: outcome.response, model, attempts };
    if (outcome.next === 'give_up') return { ok: false, error: outcome.error, attempts };
    if (outcome.next === 'retry') {
      await wait(outcome.willRetryInMs ?? 0, options.signal);
    } else {
      position += 1;
      tries = 0;
    }
  }
}

/** Where in the plan an attempt stands. */
interface AttemptPosition {
  readonly attempt: number;
  readonly tries: number;
  readonly modelsLeft: number;
}

async function reportedAttempt(
  options: CallModelOptions,
  limits: AttemptLimits,
  model: ModelDefinition,
  { attempt, tries, modelsLeft }: AttemptPosition,
): Promise<AttemptOutcome> {
  const { signal, now = Date.now } = options;
  signal.throwIfAborted();
  const start: AttemptStart = { attempt, model, startedAt: now() };
  await options.onAttempt?.(start);
  const leftMs = options.leftMs?.() ?? Number.POSITIVE_INFINITY;
  const sentAt = performance.now();
  const onDelta = (kind: DeltaKind, delta: string) => options.onChunk?.({ attempt, kind, delta });
  const variable = asksForVariables(model) ? await options.variables?.() : undefined;
  const { request } = options;
  const bounded = withinLimits(limits, leftMs);
  const result = await runAttempt({ model, request, variable, signal, limits: bounded, onDelta, now });
  const outcome = toOutcome(result, (failed) =>
    performance.now() - sentAt >= leftMs
      ? { next: 'retry', willRetryInMs: 0 }
      : planAfterFailure({ ...failed, tries, modelsLeft }, limits),
  );
  await options.onAttemptEnd?.({ ...start, endedAt: now(), outcome });
  return outcome;
}

function withinLimits(limits: AttemptLimits, leftMs: number): AttemptLimits {
  const { totalMs, generateMs } = limits;
  return { ...limits, totalMs: Math.min(totalMs, leftMs), generateMs: Math.min(generateMs, leftMs) };
}

function toOutcome(
  result: AttemptResult,
  plan: (failed: { error: ProviderError; stalled: boolean }) => NextMove,
): AttemptOutcome {
  return result.ok ? result : { ok: false, error: result.error, ...plan(result) };
}

function nothingToCall(): CallModelResult {
  const error = new ProviderError('No model to call: the list of models is empty.', 'invalid_request');
  return { ok: false, error, attempts: 0 };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // The abort is thrown, with its own reason, before the next attempt (I1).
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
