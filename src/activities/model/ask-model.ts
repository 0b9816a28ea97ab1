/** Asks the models of a step in their order; streamed text goes to the log, and each call is a separate row. */

import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import type { ModelDefinition } from '../../core/author/definition.ts';
import type { CallEstimate } from '../../core/governance/reservation.ts';
import type { ProviderResponse } from '../../core/message/provider.ts';
import type { AskedSoFar, BlockedStep } from '../../core/thread/step.ts';
import type { ToRequest } from '../../models/attempt.ts';
import type { CallModelOptions, CallModelResult } from '../../models/call-model.ts';
import { type AnsweredCall, FIRST_CALL } from '../../store/step/step-record.ts';
import type { StepRef } from '../../store/transaction/from-run.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError, abortSignal } from '../base/guard.ts';
import { askProvider } from './ask-provider.ts';
import { estimateCall, manifestOf, withOutputBound } from './call-estimate.ts';
import { ChunkWriter } from './chunk-writer.ts';
import {
  type CompactFirst,
  type HeldRequest,
  leaveForModel,
  recordModelCalls,
  tellOfUsage,
  toAnsweredCall,
  toUnsent,
} from './model-call-record.ts';
import type { RequestSizing } from './request-sizing.ts';

export interface AskedStep {
  readonly ref: StepRef;
  /** Removes secrets from texts of a provider. */
  readonly redact: (text: string) => Promise<string>;
  /** Sizes the requests to what their models hold. */
  readonly sizing: RequestSizing;
  /** Called before each request, with its model: stores what the request names. */
  readonly prepare?: (model: ModelDefinition) => Promise<void>;
  /** Set if the first call is already stored: it began with the step. */
  readonly called?: true;
  /** Set if an earlier activity was left because a model took no request. */
  readonly asked?: AskedSoFar;
  /** True if a manifest of each request is logged before it is sent. */
  readonly told: boolean;
  /** Called before each request: asks the policy of the budget about it. */
  readonly judge?: (
    model: ModelDefinition,
    estimate: CallEstimate,
    attempt: number,
  ) => Promise<BlockedStep | CompactFirst | undefined>;
  /**
   * True if nothing slow comes between this response and the commit of its answer: the end of the call is then stored
   * with it.
   */
  readonly endsWithAnswer: (response: ProviderResponse) => boolean;
}

export type AskedModels =
  | (CallModelResult & {
      /** The end of the call that answered, if it is to be stored with the answer. */
      readonly call?: AnsweredCall;
    })
  | { readonly ok: false; readonly unsent: HeldRequest };

export async function askModel(
  { store, handover, probe, report, limiter }: ActivityDependencies,
  { ref, redact, sizing, prepare, called, asked: before, told, judge, endsWithAnswer }: AskedStep,
  asked: Pick<CallModelOptions, 'models' | 'request' | 'variables' | 'onRefusedTool'>,
): Promise<AskedModels> {
  const signal = abortSignal(handover);
  const chunks = new ChunkWriter((piece) => store.modelCalls.appendChunk({ ...ref, ...piece }));
  const request: ToRequest = (model, tools) => sizing.fit(model, asked.request(model, tools));
  const reserve = (model: ModelDefinition) => estimateCall(model, request(model, {}), sizing.ratio(model));
  const prepared = (model: ModelDefinition) => ({
    always: told,
    manifest: () => manifestOf(model, request(model, {}), sizing.ratio(model)),
  });
  const judged =
    judge && ((model: ModelDefinition, attempt: number) => judge(model, reserve(model), attempt));
  const record = recordModelCalls(store, ref, {
    redact,
    report,
    reserve,
    judge: judged,
    prepared,
    hasStreamed: (attempt) => chunks.hasWritten(attempt),
    sizing,
  });
  let call: AnsweredCall | undefined;
  try {
    const { threadId, step } = ref;
    const work = `${threadId}:${step}`;
    const result = await askProvider(
      { threadId, work },
      {
        ...asked,
        ...(limiter && { place: { limiter, ticket: work } }),
        ...{ asked: before, recorded: called },
        request: (model, tools) =>
          sizing.fit(model, withOutputBound(asked.request(model, tools), record.bound())),
        signal,
        leftMs: record.leftMs,
        onTooLong: sizing.tooLong,
        onAttempt: async (start) => {
          await prepare?.(start.model);
          if (!(called && start.attempt === FIRST_CALL)) await record.onAttempt(start);
        },
        onAttemptEnd: async (end) => {
          // The text must be in the log before the log says that the call has ended.
          await chunks.finish();
          if (end.outcome.ok && endsWithAnswer(end.outcome.response)) {
            call = toAnsweredCall(end, end.outcome, sizing);
            tellOfUsage(report, { ...end.outcome, model: end.model.name, threadId });
            return;
          }
          // The answer has been paid for: it is not dropped because the store is full.
          await retryWhileUnavailable(signal, async () => record.onAttemptEnd(end));
        },
        onWaiting: ({ attempt }) =>
          chunks.inOrder(() => store.modelCalls.emitWaiting({ ...ref, call: attempt })),
        onChunk: (chunk) => {
          chunks.push(chunk);
          // Chunks are handed over synchronously, so the probe is not awaited.
          void probe?.('model_streaming');
        },
      },
    );
    if (!result.ok && result.held) return leaveForModel(store, ref, result.held);
    return call ? { ...result, call } : result;
  } catch (error) {
    if (signal.aborted) throw abortError(handover);
    const unsent = toUnsent(error);
    if (unsent) return { ok: false, unsent };
    throw error;
  } finally {
    await chunks.finish();
  }
}
