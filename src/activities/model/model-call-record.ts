/**
 * Asks models in their order, and records each request as a separate row: which model was asked, what it cost, why it
 * failed. A provider belongs to the project, or to packages that it chose: it runs as author code under its own name,
 * and the callbacks, which are our code, outside of that.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { withStack } from '../../author/guard/author-fault.ts';
import { runAuthorCode } from '../../author/guard/author-run.ts';
import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import type { StateDependencies } from '../../author/state/dependencies.ts';
import type { ModelDefinition, PromptDefinition } from '../../core/author/definition.ts';
import type { Side } from '../../core/author/thread-execution.ts';
import { QUEUED_SHOWN_MS } from '../../core/event/cause.ts';
import type { CallEstimate } from '../../core/governance/reservation.ts';
import { costOf } from '../../core/message/model-price.ts';
import type { ProviderRequest, ProviderResponse } from '../../core/message/provider.ts';
import type { BlockedStep, StoredError } from '../../core/thread/step.ts';
import { errorStack, readField } from '../../core/value/thrown.ts';
import { pricesOf } from '../../definitions/known-price.ts';
import type { ToRequest } from '../../models/attempt.ts';
import {
  type AttemptEnd,
  type AttemptOutcome,
  type AttemptStart,
  type CallModelOptions,
  type CallModelResult,
  callModel,
} from '../../models/call-model.ts';
import type { SentRequest } from '../../store/request/request-record.ts';
import { type AnsweredCall, FIRST_CALL, type ModelCallStart } from '../../store/step/step-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { StepRef } from '../../store/transaction/from-run.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError, abortSignal } from '../base/guard.ts';
import { estimateCall, manifestOf } from './call-estimate.ts';
import type { RequestSizing } from './request-sizing.ts';

export interface RecordedRequests
  extends Pick<
    CallModelOptions,
    | 'models'
    | 'variables'
    | 'asked'
    | 'recorded'
    | 'limits'
    | 'onRefusedTool'
    | 'onRefusedFormat'
    | 'onWaiting'
    | 'onChunk'
  > {
  /** The request as it is assembled; it is sized to what its model holds before it is sent. */
  readonly request: ToRequest;
  readonly sizing: RequestSizing;
  /** Removes secrets from texts of a provider. */
  readonly redact: (text: string) => Promise<string>;
  /** The key of the work that the requests belong to. */
  readonly work: string;
  /** Place in the line for a model, `work` by default; after `stayMs` it is left. */
  readonly line?: { readonly ticket?: string; readonly stayMs?: number };
  /** What the requests are made of, which is kept with them. */
  readonly from: Omit<SentRequest, 'request' | 'provider'>;
  /** The rows of the requests, if they are not those of the step's answer. */
  readonly calls?: Pick<ThreadStore['modelCalls'], 'start' | 'end'>;
  /** Added to the number of each request. */
  readonly after?: number;
  /** Set if the requests are logged before they are sent: always, or if a budget bounds them. */
  readonly logs?: 'always' | 'bound';
  /** Asks the policy of the budget about a request. Returns why it is not sent yet; undefined if it may be sent. */
  readonly judge?: (
    model: ModelDefinition,
    estimate: CallEstimate,
    attempt: number,
  ) => Promise<BlockedStep | CompactFirst | undefined>;
  /** Called before each request, with its model: stores what the request names. */
  readonly prepare?: (model: ModelDefinition) => Promise<void>;
  /** Resolves once what an attempt has streamed is in the log: before the log says that it has ended. */
  readonly streamed?: () => Promise<void>;
  /** True if the attempt has streamed text. */
  readonly hasStreamed?: (attempt: number) => boolean;
  /**
   * True if nothing slow comes between this response and the commit of its answer: the end of the call is then stored
   * with it.
   */
  readonly endsWithAnswer?: (response: ProviderResponse) => boolean;
}

export type AskedModels =
  | (CallModelResult & {
      /** The end of the call that answered, if it is to be stored with the answer. */
      readonly call?: AnsweredCall;
    })
  | { readonly ok: false; readonly unsent: HeldRequest };

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

/** Ends the attempts: no model is asked any more. Thrown through them. */
class UnsentCall extends Error {
  override readonly name = 'UnsentCall';
  readonly unsent: HeldRequest;

  constructor(unsent: HeldRequest) {
    super(unsent.kind);
    this.unsent = unsent;
  }
}

/** The conversation that a request goes on with (store/request/request-record.ts). */
export function chainOf(
  { side }: { readonly side: Side },
  { prompt }: { readonly prompt: Pick<PromptDefinition, 'name'> },
  purpose?: 'summary' | 'bootstrap',
): string {
  return [side, prompt.name, ...(purpose ? [purpose] : [])].join(':');
}

/** A request that shows no stored message. */
export const NO_ORIGINS = { origins: { rows: [], made: [] }, stored: [] } as const;

/** Throws why the work was aborted, and whatever the caller's own functions throw. */
export async function askRecorded(
  { store, handover, report, limiter, inSpan }: ActivityDependencies,
  ref: StepRef,
  options: RecordedRequests,
): Promise<AskedModels> {
  const { sizing, work, line, asked, recorded, prepare, streamed } = options;
  const { models, variables, limits, onRefusedTool, onRefusedFormat, onWaiting, onChunk } = options;
  const signal = abortSignal(handover);
  const record = openRecord(options.calls ?? store.modelCalls, ref, { ...options, report });
  let call: AnsweredCall | undefined;
  let last: LastRequest | undefined;
  const sentBy = ({ attempt }: Pick<AttemptEnd, 'attempt'>) =>
    last?.attempt === attempt ? last.sent : undefined;
  const own: CallModelOptions = {
    models,
    variables,
    asked,
    recorded,
    limits,
    signal,
    onRefusedTool,
    onRefusedFormat,
    onWaiting,
    onChunk,
    place: limiter && { limiter, ticket: work, ...line },
    request: (model, tools) => record.bounded(model, options.request(model, tools)),
    leftMs: record.leftMs,
    onTooLong: sizing.tooLong,
    onRequest({ attempt, model }, request) {
      last = { attempt, sent: { ...options.from, provider: model.provider.name, request } };
    },
    async onAttempt(start) {
      await prepare?.(start.model);
      if (!(recorded && start.attempt === FIRST_CALL)) await record.begin(start);
    },
    async onAttemptEnd(end) {
      await streamed?.();
      const { outcome, model } = end;
      if (outcome.ok && options.endsWithAnswer?.(outcome.response)) {
        call = { ...toAnsweredCall(end, outcome, sizing), sent: sentBy(end) };
        tellOfUsage(report, { ...outcome, model: model.name, threadId: ref.threadId });
        return;
      }
      // The answer has been paid for: it is not dropped because the store is full.
      await retryWhileUnavailable(signal, async () => record.end(end, sentBy(end)));
    },
  };
  try {
    const unit = { threadId: ref.threadId, work, code: 'model', name: models[0]?.name ?? '' } as const;
    const outside = runOutside(own);
    const within: CallModelOptions['within'] =
      inSpan && (({ attempt }, request) => inSpan({ ...ref, call: (options.after ?? 0) + attempt }, request));
    const result = await runAuthorCode(unit, () => callModel(within ? { ...outside, within } : outside));
    // Who leaves the line does not ask again.
    if (result.ok || !result.held || line?.stayMs !== undefined) return call ? { ...result, call } : result;
    // Ends the activity's part of a step whose model takes no request for now: nobody's time runs meanwhile.
    const { model, pauseMs, asked: soFar } = result.held;
    await store.modelCalls.hold({ ...ref, model, pauseMs, refusals: soFar.refusals, by: result.by });
    return { ok: false, unsent: { kind: 'blocked', held: result.held } };
  } catch (error) {
    if (signal.aborted) {
      await keepAborted(store, ref, options.after, last);
      throw abortError(handover);
    }
    if (readField(error, 'name') !== 'UnsentCall') throw error;
    return { ok: false, unsent: (error as UnsentCall).unsent };
  } finally {
    await streamed?.();
  }
}

interface LastRequest {
  readonly attempt: number;
  readonly sent: SentRequest;
}

/** No effect if the call has ended. A request that cannot be kept does not delay the end of the work. */
async function keepAborted(
  { modelCalls }: Pick<ThreadStore, 'modelCalls'>,
  ref: StepRef,
  after = 0,
  last: LastRequest | undefined,
): Promise<void> {
  if (!last) return;
  const { attempt, sent } = last;
  await modelCalls.keepAborted({ ...ref, call: after + attempt, sent }).catch(() => undefined);
}

/** Callbacks run in the context from which this is called. */
function runOutside(options: CallModelOptions): CallModelOptions {
  const outside = AsyncLocalStorage.snapshot();
  const wrapped = Object.entries(options).map(([name, value]) => [
    name,
    typeof value === 'function' ? (...given: unknown[]) => outside(value, ...given) : value,
  ]);
  return Object.fromEntries(wrapped);
}

type RecordTerms = Pick<
  RecordedRequests,
  'request' | 'sizing' | 'redact' | 'judge' | 'logs' | 'hasStreamed' | 'after'
> &
  Pick<StateDependencies, 'report'>;

/** The rows of the requests, and what a budget leaves for the current one. */
function openRecord(
  calls: Pick<ThreadStore['modelCalls'], 'start' | 'end'>,
  ref: StepRef,
  { request, sizing, redact, report, judge, logs, hasStreamed, after = 0 }: RecordTerms,
) {
  let bound: number | undefined;
  let leftMs: number | undefined;
  const sized = (model: ModelDefinition) => sizing.fit(model, request(model, {}));
  const reserve = (model: ModelDefinition) => estimateCall(model, sized(model), sizing.ratio(model));
  const prepared = (model: ModelDefinition): ModelCallStart['prepared'] =>
    logs && {
      always: logs === 'always',
      provider: model.provider.name,
      manifest: () => manifestOf(model, sized(model), sizing.ratio(model)),
    };
  return {
    bounded: (model: ModelDefinition, whole: ProviderRequest) =>
      sizing.fit(model, bound === undefined ? whole : { ...whole, maxOutputTokens: bound }),
    leftMs: () => leftMs,
    async begin({ attempt, model, heldMs, insteadOf }: AttemptStart) {
      const held = await judge?.(model, reserve(model), attempt);
      if (held) throw new UnsentCall(held);
      const asked = { ...ref, call: after + attempt, model: model.name, modelId: model.model };
      const why = { insteadOf, heldMs: heldMs < QUEUED_SHOWN_MS ? undefined : heldMs };
      const started = await calls.start({
        ...asked,
        ...why,
        reserve: () => reserve(model),
        prepared: prepared(model),
      });
      if (started.kind === 'exceeded') throw new UnsentCall({ kind: 'failed', error: started.error });
      // A hook may have terminated the thread since the step began.
      if (started.kind === 'blocked' || started.kind === 'terminated') throw new UnsentCall(started);
      ({ maxOutputTokens: bound, leftMs } = started.kind === 'started' ? started : {});
    },
    async end({ attempt: given, model, startedAt, outcome }: AttemptEnd, sent: SentRequest | undefined) {
      const attempt = after + given;
      if (outcome.ok) {
        const answered = toAnsweredCall({ attempt, model, startedAt }, outcome, sizing);
        await calls.end({ ...ref, ok: true, ...answered, sent });
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
        plain: outcome.next === 'plain' || undefined,
        withoutMetadata: outcome.withoutMetadata || undefined,
        withoutTool: outcome.withoutTool,
        withoutFormat: outcome.withoutFormat,
        tooLong: tooLong && (true as const),
        smaller: outcome.next === 'smaller' || undefined,
        fallback: outcome.next === 'fallback' || undefined,
      };
      const discards = hasStreamed?.(given);
      const counted = tooLong && sizing.counted(model);
      const failed = { call: attempt, ok: false, error, discards, startedAt: startedAt * 1000, counted };
      await calls.end({ ...ref, ...failed, sent });
      // A failure without a provider's response may be a bug in the code that calls the provider.
      const stack = code === 'unknown' ? errorStack(outcome.error.cause) : undefined;
      if (stack === undefined) return;
      const failureText = withStack(error.message, await redact(stack));
      const work = { ...ref, call: attempt };
      report?.({ code: 'model', name: model.name, threadId: ref.threadId, work, ...failureText });
    },
  };
}

type Answered = Extract<AttemptOutcome, { ok: true }>;

function toAnsweredCall(
  { attempt: call, model, startedAt }: Pick<AttemptEnd, 'attempt' | 'model' | 'startedAt'>,
  { response: { usage }, firstTokenAt, ignored }: Answered,
  sizing: RequestSizing,
): AnsweredCall {
  const times = { startedAt: startedAt * 1000, firstTokenAt: firstTokenAt * 1000 };
  const price = pricesOf(model);
  const counted = sizing.counted(model, usage);
  return { call, usage, cost: costOf(price, usage), price, ...times, ignored, counted };
}

/** Models that this process has told of: a provider reports so each time. */
const told = new Set<string>();

/** Tells in the worker's log of a provider whose reports of usage break the contract and are corrected (core/message/usage.ts, U2). */
function tellOfUsage(
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
