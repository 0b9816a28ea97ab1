/** Records each request to a model as a separate row: which model was asked, what it cost, why it failed. */

import { withStack } from '../../author/guard/author-fault.ts';
import type { StateDependencies } from '../../author/state/dependencies.ts';
import type { ModelDefinition } from '../../core/author/definition.ts';
import { costOf } from '../../core/message/model-price.ts';
import type { BlockedStep, HeldModel, StoredError } from '../../core/thread/step.ts';
import { errorStack, readField } from '../../core/value/thrown.ts';
import { pricesOf } from '../../definitions/known-price.ts';
import type { AttemptEnd, AttemptOutcome, CallModelOptions } from '../../models/call-model.ts';
import type { AnsweredCall, ModelCallStart } from '../../store/step/step-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { StepRef } from '../../store/transaction/from-run.ts';
import type { RequestSizing } from './request-sizing.ts';

/** Ends the activity's part of a step whose model takes no request for now: nobody's time runs meanwhile. */
export async function leaveForModel(
  store: { readonly modelCalls: Pick<ThreadStore['modelCalls'], 'hold'> },
  ref: StepRef,
  held: HeldModel,
): Promise<{ readonly ok: false; readonly unsent: BlockedStep }> {
  const { model, pauseMs, asked } = held;
  await store.modelCalls.hold({ ...ref, model, pauseMs, refusals: asked.refusals });
  return { ok: false, unsent: { kind: 'blocked', held } };
}

type Recorder = Required<Pick<CallModelOptions, 'onAttempt' | 'onAttemptEnd'>> & {
  /** Output tokens that the current request may use, if a budget bounds it. */
  readonly bound: () => number | undefined;
  /** Milliseconds that the current request may take, if a budget bounds it. */
  readonly leftMs: () => number | undefined;
};

export interface ModelCallOptions extends Pick<StateDependencies, 'report'> {
  /** True if the attempt has streamed text. */
  readonly hasStreamed?: (attempt: number) => boolean;
  /** Removes secrets from texts of a provider. */
  readonly redact: (text: string) => Promise<string>;
  /** What a request to this model may cost. */
  readonly reserve: (model: ModelDefinition) => ReturnType<NonNullable<ModelCallStart['reserve']>>;
  /** Asks the policy of the budget about the request. Returns why it is not sent yet; undefined if it may be sent. */
  readonly judge?: (
    model: ModelDefinition,
    attempt: number,
  ) => Promise<BlockedStep | CompactFirst | undefined>;
  /** Knows what the requests show of how their models count. */
  readonly sizing?: Pick<RequestSizing, 'counted'>;
  /** What is logged of the request before it is sent. */
  readonly prepared?: (model: ModelDefinition) => ModelCallStart['prepared'];
}

/**
 * Why a request is not sent: the budget denies it, other requests hold what is left of it, or it waits for an approval.
 */
export type UnsentRequest =
  | { readonly kind: 'failed'; readonly error: StoredError }
  | { readonly kind: 'terminated' }
  | BlockedStep;

/** The policy of the budget asks for a shorter request. */
export interface CompactFirst {
  readonly kind: 'compact';
}

export type HeldRequest = UnsentRequest | CompactFirst;

/** Ends the attempts: no model is asked any more. Thrown through them to their caller (ask-model.ts). */
class UnsentCall extends Error {
  override readonly name = 'UnsentCall';
  readonly unsent: HeldRequest;

  constructor(unsent: HeldRequest) {
    super(unsent.kind);
    this.unsent = unsent;
  }
}

/** Why the request was not sent; undefined for any other error. */
export function toUnsent(error: unknown): HeldRequest | undefined {
  return readField(error, 'name') === 'UnsentCall' ? (error as UnsentCall).unsent : undefined;
}

export function recordModelCalls(
  store: { readonly modelCalls: Pick<ThreadStore['modelCalls'], 'start' | 'end'> },
  ref: StepRef,
  { redact, report, reserve, judge, prepared, hasStreamed, sizing }: ModelCallOptions,
): Recorder {
  let bound: number | undefined;
  let leftMs: number | undefined;
  return {
    async onAttempt({ attempt, model }) {
      const held = await judge?.(model, attempt);
      if (held) throw new UnsentCall(held);
      const asked = { ...ref, call: attempt, model: model.name, modelId: model.model };
      const started = await store.modelCalls.start({
        ...asked,
        reserve: () => reserve(model),
        prepared: prepared?.(model),
      });
      if (started.kind === 'exceeded') throw new UnsentCall({ kind: 'failed', error: started.error });
      if (started.kind === 'blocked') throw new UnsentCall(started);
      // A hook may have terminated the thread since the step began.
      if (started.kind === 'terminated') throw new UnsentCall(started);
      const known = started.kind === 'started' ? started : undefined;
      bound = known?.maxOutputTokens;
      leftMs = known?.leftMs;
    },
    bound: () => bound,
    leftMs: () => leftMs,
    async onAttemptEnd({ attempt, model, startedAt, outcome }) {
      if (outcome.ok) {
        const answered = toAnsweredCall({ attempt, model, startedAt }, outcome, sizing);
        await store.modelCalls.end({ ...ref, ok: true, ...answered });
        tellOfUsage(report, { ...outcome, model: model.name, threadId: ref.threadId });
        return;
      }
      const { code, message, statusCode, tooLong } = outcome.error;
      // Redacted before it is cut: half of a secret would not be found.
      const error = {
        code,
        message: (await redact(message)).slice(0, 1000),
        statusCode,
        retryInMs: outcome.willRetryInMs,
        ...(outcome.next === 'plain' ? { plain: true } : {}),
        ...(outcome.withoutMetadata ? { withoutMetadata: true } : {}),
        ...(outcome.withoutTool === undefined ? {} : { withoutTool: outcome.withoutTool }),
        ...(tooLong ? { tooLong: true as const } : {}),
        ...(outcome.next === 'smaller' ? { smaller: true as const } : {}),
      };
      const discards = hasStreamed?.(attempt);
      const counted = tooLong && sizing?.counted(model);
      const failed = { call: attempt, ok: false, error, discards, startedAt: startedAt * 1000, counted };
      await store.modelCalls.end({ ...ref, ...failed });
      // A failure without a provider's response may be a bug in the code that calls the provider.
      const stack = code === 'unknown' ? errorStack(outcome.error.cause) : undefined;
      if (stack === undefined) return;
      const failureText = withStack(error.message, await redact(stack));
      report?.({ code: 'model', name: model.name, threadId: ref.threadId, ...failureText });
    },
  };
}

type Answered = Extract<AttemptOutcome, { ok: true }>;

export function toAnsweredCall(
  { attempt: call, model, startedAt }: Pick<AttemptEnd, 'attempt' | 'model' | 'startedAt'>,
  { response: { usage }, firstTokenAt, ignored }: Answered,
  sizing?: Pick<RequestSizing, 'counted'>,
): AnsweredCall {
  const times = { startedAt: startedAt * 1000, firstTokenAt: firstTokenAt * 1000 };
  const price = pricesOf(model);
  const counted = sizing?.counted(model, usage);
  return { call, usage, cost: costOf(price, usage), price, ...times, ignored, ...(counted && { counted }) };
}

/** Models that this process has told of: a provider reports so each time. */
const told = new Set<string>();

/** Tells in the worker's log of a provider whose reports of usage break the contract and are corrected (core/message/usage.ts, U2). */
export function tellOfUsage(
  report: StateDependencies['report'],
  { leftCacheOut, model, threadId }: Pick<Answered, 'leftCacheOut'> & { model: string; threadId: string },
): void {
  if (!leftCacheOut || told.has(model)) return;
  told.add(model);
  const error =
    'Its provider reports more cached tokens than prompt tokens, so both were added. ' +
    'Let it report the cached tokens as a part of promptTokens (docs/providers.md).';
  report?.({ code: 'model', name: model, threadId, error, goesOn: true });
}
