/**
 * Asks the models of a step for a summary: a separate request, recorded and paid for like any other, and numbered apart
 * from those of the answer. Each model is asked once, and again with less of the record if it refuses it for its length. Nothing that a model does or returns fails the step.
 */

import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import { readRedactor } from '../../author/state/env-place.ts';
import type { ModelDefinition } from '../../core/author/definition.ts';
import { INSTRUCTIONS, readSummary, SUMMARY_CALLS, SUMMARY_TOKENS } from '../../core/context/summary.ts';
import type { ProviderRequest } from '../../core/message/provider.ts';
import type { ActiveSide } from '../../core/project/active-side.ts';
import type { AskedSoFar, BlockedStep } from '../../core/thread/step.ts';
import type { StepContext } from '../../store/step/step-place-record.ts';
import type { ModelCallStart, StartedModelCall } from '../../store/step/step-record.ts';
import type { StepRef } from '../../store/transaction/from-run.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError, abortSignal } from '../base/guard.ts';
import { askProvider } from './ask-provider.ts';
import { estimateCall, logsManifests, manifestOf, withOutputBound } from './call-estimate.ts';
import { leaveForModel, recordModelCalls, toUnsent } from './model-call-record.ts';
import { findModels } from './request.ts';
import { createSizing } from './request-sizing.ts';
import { readProviderVariables } from './step-env.ts';

export interface SummarisedStep {
  readonly ref: StepRef;
  readonly context: StepContext;
  readonly active: ActiveSide;
  /** Set if an earlier activity was left because a model took no request. */
  readonly asked?: AskedSoFar;
}

export type AskedSummary =
  | { readonly kind: 'said'; readonly text: string }
  /** No model has returned a text, or the budget has no room for the request. */
  | { readonly kind: 'nothing' }
  /** Other requests hold the rest of the budget. */
  | BlockedStep;

/** Before the first request of a model. */
const NOT_ASKED = { position: 0, refusals: 0, attempts: 0 } as const;

/** Thrown through the attempts if the budget has no room for the request. */
const DECLINED = Symbol('declined');

export async function askSummary(
  ports: ActivityDependencies,
  { ref, context, active, asked }: SummarisedStep,
  record: string,
): Promise<AskedSummary> {
  const { store, handover, report, limiter } = ports;
  const { thread } = context;
  const signal = abortSignal(handover);
  const sizing = createSizing(context.counts);
  const request = (model: ModelDefinition, bound?: number) =>
    sizing.fit(model, withOutputBound(toRequest(model, thread.id, record), bound));
  const asksForManifests = logsManifests(active, context);
  const calls = recordModelCalls({ modelCalls: asSummaryCalls(store.modelCalls) }, ref, {
    redact: async (text) => (await readRedactor(ports, thread))(text),
    report,
    sizing,
    reserve: (model) => estimateCall(model, request(model), sizing.ratio(model)),
    prepared: (model) => ({
      always: asksForManifests,
      manifest: () => manifestOf(model, request(model), sizing.ratio(model)),
    }),
  });
  try {
    const work = `${thread.id}:${ref.step}`;
    const result = await askProvider(
      { threadId: thread.id, work },
      {
        ...(limiter && { place: { limiter, ticket: `${work}:summary` } }),
        ...(asked && { asked: { ...NOT_ASKED, since: asked.since } }),
        models: findModels(ports.registry(), active),
        request: (model) => request(model, calls.bound()),
        variables: () => readProviderVariables(ports, thread, active.prompt),
        signal,
        limits: { retryDelaysMs: [] },
        onTooLong: sizing.tooLong,
        leftMs: calls.leftMs,
        onAttempt: (start) => calls.onAttempt(withSummaryNumber(start)),
        onAttemptEnd: (end) =>
          retryWhileUnavailable(signal, async () => calls.onAttemptEnd(withSummaryNumber(end))),
      },
    );
    // The answer's own requests have not begun.
    if (!result.ok && result.held) {
      const held = { ...result.held, asked: { ...NOT_ASKED, since: result.held.asked.since } };
      return (await leaveForModel(store, ref, held)).unsent;
    }
    const text = result.ok ? readSummary(result.response.content) : undefined;
    return text === undefined ? { kind: 'nothing' } : { kind: 'said', text };
  } catch (error) {
    if (signal.aborted) throw abortError(handover);
    if (error === DECLINED) return { kind: 'nothing' };
    const unsent = toUnsent(error);
    if (unsent) return unsent.kind === 'blocked' ? unsent : { kind: 'nothing' };
    throw error;
  }
}

const withSummaryNumber = <Attempt extends { readonly attempt: number }>(given: Attempt): Attempt => ({
  ...given,
  attempt: SUMMARY_CALLS + given.attempt,
});

type Calls = ActivityDependencies['store']['modelCalls'];

function asSummaryCalls(calls: Calls): Pick<Calls, 'start' | 'end'> {
  return {
    start: async (command: ModelCallStart): Promise<StartedModelCall> => {
      const started = await calls.start({ ...command, purpose: 'compaction' });
      if (started.kind === 'declined') throw DECLINED;
      return started;
    },
    end: (command) => calls.end(command),
  };
}

/** Builds the request without the prompt's own settings, since it does not ask for the prompt's answer. */
function toRequest(
  { model, capabilities, includedProviders, providerOptions }: ModelDefinition,
  threadId: string,
  record: string,
): ProviderRequest {
  const { responseFormat: _, ...options } = providerOptions;
  return {
    model,
    messages: [
      { role: 'system', content: INSTRUCTIONS },
      { role: 'user', content: record },
    ],
    maxOutputTokens: Math.min(capabilities.maxOutputTokens ?? SUMMARY_TOKENS, SUMMARY_TOKENS),
    ...(includedProviders.length > 0 ? { includedProviders } : {}),
    providerOptions: options,
    user: threadId,
  };
}
