/**
 * Gets one answer for one model step: attempts on the primary model, then on each fallback in order (definitions §4). A
 * stream that breaks is followed by a plain (not streamed) call of the same model (attempt-plan.ts, P1), which is a
 * separate attempt; nothing of the stream is kept.
 *
 * - An abort ends everything at once with the signal's reason, and never leads to a retry or a fallback.
 * - Any other failure is a value; nothing else is thrown, except what the caller's own callbacks throw.
 * - Each attempt is announced before its request is sent, and its end is reported before the next one begins, so that
 *   the caller can store each as a model call. An aborted attempt has no reported end: its caller aborted it.
 * - `onWaiting` is called at most once, and never after an answer has begun.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelDefinition } from '../core/author/definition.ts';
import type { HoldCause } from '../core/event/cause.ts';
import { ProviderError } from '../core/message/provider.ts';
import type { AskedSoFar, HeldModel } from '../core/thread/step.ts';
import { noteRefusal, type Turn, takeTurn } from './admission.ts';
import type { OnDelta } from './answer-reader.ts';
import { type AttemptResult, type FailedAnswer, runAttempt, type ToRequest } from './attempt.ts';
import {
  type AttemptLimits,
  limitsOf,
  MAX_SMALLER,
  type NextMove,
  patienceMs,
  planAfterFailure,
  requestTimeoutMs,
} from './attempt-plan.ts';
import type {
  AttemptOutcome,
  AttemptStart,
  CallModelOptions,
  CallModelResult,
  ReplacedModel,
} from './call-options.ts';
import { asksForVariables, type VariableLookup } from './provider-config.ts';
import { refusesFormat } from './refused-format.ts';
import { refusesMetadata, withoutMetadata } from './refused-metadata.ts';
import { findRefusedTool } from './refused-tool.ts';

export type {
  AttemptChunk,
  AttemptEnd,
  AttemptOutcome,
  AttemptStart,
  CallModelOptions,
  CallModelResult,
} from './call-options.ts';

/** Calls the models until one answers or the last one has failed. Throws the signal's reason on an abort. */
export async function callModel(options: CallModelOptions): Promise<CallModelResult> {
  const { models, asked: before, now = Date.now } = options;
  const feedback = createFeedback(options.onWaiting);
  let attempts = before?.attempts ?? 0;
  let insteadOf: ReplacedModel | undefined;
  for (const [position, model] of models.entries()) {
    if (position < (before?.position ?? 0)) {
      insteadOf = { model: model.name };
      continue;
    }
    const { since, refusals } = before?.position === position ? before : { since: now(), refusals: 0 };
    const modelsLeft = models.length - position - 1;
    const limits = { ...limitsOf(model.timeouts), ...options.limits };
    const waitedBefore = Math.max(0, now() - since) - performance.now();
    const waitedMs = () => waitedBefore + performance.now();
    const asked = { position, since, refusals, attempts };
    const open = { model, limits, modelsLeft, waitedMs, asked, insteadOf };
    const { outcome, held, ...end } = await askOne(options, open, feedback);
    attempts = end.asked.attempts;
    if (outcome.ok) return { ok: true, response: outcome.response, model, attempts };
    const { error } = outcome;
    if (held || outcome.next === 'give_up') return { ok: false, error, attempts, held, by: end.by };
    insteadOf = { model: model.name, code: error.code };
  }
  return noModelResult();
}

/** One model of the list. */
interface AskedModel {
  readonly model: ModelDefinition;
  readonly limits: AttemptLimits;
  /** Models not tried yet. */
  readonly modelsLeft: number;
  /** Milliseconds since it was first asked. */
  readonly waitedMs: () => number;
  /** Before the first attempt that is made here. */
  readonly asked: AskedSoFar;
  readonly insteadOf: ReplacedModel | undefined;
}

interface ModelEnd {
  readonly outcome: AttemptOutcome;
  readonly asked: AskedSoFar;
  readonly held?: HeldModel;
  readonly by?: HoldCause;
}

/** Makes attempts at one model until it answers, or the plan is to use the next model, to give up, or to leave. */
async function askOne(
  options: CallModelOptions,
  { asked: before, ...model }: AskedModel,
  feedback: Feedback<AttemptStart>,
): Promise<ModelEnd> {
  const { wait = pause, place } = options;
  let asked = before;
  let plain = false;
  let wentPlain = false;
  let stalled = false;
  let smaller = 0;
  const leftOut: LeftOut = { metadata: false, tools: 0 };
  for (let tries = 1; ; tries += 1) {
    options.signal.throwIfAborted();
    const variable = asksForVariables(model.model) ? await options.variables?.() : undefined;
    const enteredAt = performance.now();
    const turn = await turnOf(options, model, asked, variable);
    const heldMs = Math.round(performance.now() - enteredAt);
    if (turn.kind !== 'now') return withoutTurn(turn, model, asked);
    asked = { ...asked, attempts: asked.attempts + 1 };
    const plan: Plan = (failed, leftMs, waitMs) => {
      stalled ||= failed.stalled;
      if (waitMs !== undefined) asked = { ...asked, refusals: asked.refusals + 1 };
      const without = leaveOut(options, model.model, failed.error, leftOut);
      if (without) return without;
      const { limits, modelsLeft } = model;
      const { tooLong } = failed.error;
      const shrinks =
        tooLong && smaller < MAX_SMALLER && (options.onTooLong?.(model.model, tooLong) ?? false);
      const refused = waitMs === undefined ? {} : { refused: { refusals: asked.refusals, waitMs } };
      return planAfterFailure(
        {
          ...failed,
          ...refused,
          stalled,
          wentPlain,
          tries: tries - smaller - leftOut.tools,
          modelsLeft,
          leftMs,
          shrinks,
        },
        limits,
      );
    };
    const { refusals } = asked;
    const position: AttemptPosition = {
      attempt: asked.attempts,
      variable,
      plain,
      bare: leftOut.metadata,
      plan,
      turn,
      heldMs,
      refusals,
    };
    const outcome: AttemptOutcome = await reportedAttempt(options, model, position, feedback).finally(() =>
      turn.lease?.end(),
    );
    if (outcome.ok || outcome.next === 'fallback' || outcome.next === 'give_up') return { outcome, asked };
    // With a place, the next turn is waited for there.
    const waits = outcome.next === 'retry' && !(place && asked.refusals > refusals);
    if (waits) await wait(outcome.willRetryInMs ?? 0, options.signal);
    if (outcome.next === 'smaller') smaller += 1;
    plain = outcome.next === 'plain' || (outcome.next === 'smaller' && plain);
    wentPlain ||= plain;
  }
}

type OpenModel = Omit<AskedModel, 'asked'>;
type Now = Extract<Turn, { kind: 'now' }>;

function withoutTurn(
  turn: Exclude<Turn, Now>,
  { model: { name: model }, modelsLeft }: OpenModel,
  asked: AskedSoFar,
): ModelEnd {
  const next = modelsLeft > 0 ? 'fallback' : 'give_up';
  const outcome = { ok: false, error: turn.error, next } as const;
  if (turn.kind === 'over') return { asked, outcome };
  return { asked, outcome, held: { model, pauseMs: turn.pauseMs, asked }, by: turn.by };
}

function turnOf(
  { signal, place, recorded = false }: CallModelOptions,
  open: OpenModel,
  { since, attempts }: AskedSoFar,
  variable: VariableLookup | undefined,
): Promise<Turn> {
  const { model, limits, modelsLeft } = open;
  return takeTurn(place, {
    model,
    modelsLeft,
    variable,
    signal,
    since,
    waitedMs: open.waitedMs(),
    urgent: recorded && attempts === 0,
    timeoutMs: requestTimeoutMs(limits),
    patienceMs: patienceMs(limits),
  });
}

/** The number of an attempt, its mode, and the plan that decides what follows it. */
interface AttemptPosition {
  readonly attempt: number;
  readonly variable: VariableLookup | undefined;
  readonly plain: boolean;
  /** True if what providers want back with answers is left out (refused-metadata.ts). */
  readonly bare: boolean;
  readonly plan: Plan;
  readonly turn: Now;
  /** Milliseconds until its turn. */
  readonly heldMs: number;
  /** Earlier refusals of the model. */
  readonly refusals: number;
}

/** `waitMs`: set if the provider is busy. */
type Plan = (failed: FailedAnswer, leftMs: number, waitMs: number | undefined) => NextMove;

async function reportedAttempt(
  options: CallModelOptions,
  { model, limits, insteadOf }: OpenModel,
  { attempt, variable, plain, bare, plan, turn, heldMs, refusals }: AttemptPosition,
  feedback: Feedback<AttemptStart>,
): Promise<AttemptOutcome> {
  const { signal, now = Date.now } = options;
  const request: ToRequest = bare
    ? (...given) => withoutMetadata(options.request(...given))
    : options.request;
  const until = performance.now() + turn.leftMs;
  const start: AttemptStart = { attempt, model, startedAt: now(), heldMs, insteadOf };
  await options.onAttempt?.(start);
  const leftMs = options.leftMs?.() ?? Number.POSITIVE_INFINITY;
  const sentAt = performance.now();
  const onDelta: OnDelta = (kind, delta, call) =>
    options.onChunk?.({ attempt, kind, delta, ...(call && { call }) });
  feedback.begin(start, limits);
  const run = () =>
    runAttempt({
      model,
      request,
      variable,
      signal,
      plain,
      onDelta,
      onRequest: (sent) => options.onRequest?.(start, sent),
      now,
      limits: withinTime(limits, Math.min(leftMs, until - sentAt)),
      requestTimeoutMs: requestTimeoutMs(limits),
      onBegin: () => {
        turn.lease?.accepted();
        feedback.end(true);
      },
    });
  const { within } = options;
  const result = await (within ? within(start, run) : run()).finally(() => feedback.end(false));
  const waitMs = result.ok ? undefined : noteRefusal(result.error, turn, refusals);
  // Its end is stored without it.
  turn.lease?.end();
  const outcome = toOutcome(result, (failed) => {
    const endedAt = performance.now();
    if (endedAt - sentAt >= leftMs) return { next: 'retry', willRetryInMs: 0 };
    return plan(failed, until - endedAt, waitMs);
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
  // The abort is thrown, with its own reason, before the next attempt.
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/** `Start`: the description of the attempt that is reported. */
interface Feedback<Start> {
  begin(start: Start, limits: Pick<AttemptLimits, 'feedbackMs'>): void;
  /** `begun`: true if an answer has begun, false if the attempt is over. */
  end(begun: boolean): void;
}

/**
 * Reports that no answer has begun within `feedbackMs`: at most once over all attempts of a step, and never after an
 * answer has begun, even if that attempt has failed since.
 */
function createFeedback<Start>(onWaiting?: (start: Start, afterMs: number) => void): Feedback<Start> {
  let done = onWaiting === undefined;
  let timer: NodeJS.Timeout | undefined;
  const report = (start: Start, afterMs: number) => {
    done = true;
    onWaiting?.(start, afterMs);
  };
  return {
    begin(start, { feedbackMs }) {
      if (!done) timer = setTimeout(report, feedbackMs, start, feedbackMs);
    },
    end(begun) {
      clearTimeout(timer);
      done ||= begun;
    },
  };
}

interface LeftOut {
  /** True if the request goes without what providers want back with answers. */
  metadata: boolean;
  /** Number of tools. */
  tools: number;
}

/** Tools that are left out for one answer; a provider that refuses more is not asked again. */
const MAX_TOOLS = 8;

/**
 * What is left out of a model's next request because its provider has refused it: a tool, or what goes back with
 * answers. Returns undefined if nothing can be left out; otherwise notes it in `leftOut`.
 */
function leaveOut(
  { request: toRequest, onRefusedTool, onRefusedFormat }: CallModelOptions,
  model: ModelDefinition,
  error: ProviderError,
  leftOut: LeftOut,
): NextMove | undefined {
  const request = toRequest(model, {});
  if (onRefusedFormat && refusesFormat(error, request)) {
    // The next request does not have both.
    onRefusedFormat(model);
    return { next: 'retry', willRetryInMs: 0, withoutFormat: true };
  }
  const mayLeave = onRefusedTool && leftOut.tools < MAX_TOOLS;
  const tool = mayLeave ? findRefusedTool(error, request) : undefined;
  if (tool !== undefined) {
    onRefusedTool?.(model, tool);
    leftOut.tools += 1;
    return { next: 'retry', willRetryInMs: 0, withoutTool: tool };
  }
  if (leftOut.metadata || error.tooLong || !refusesMetadata(error, request)) return undefined;
  leftOut.metadata = true;
  return { next: 'retry', willRetryInMs: 0, withoutMetadata: true };
}
