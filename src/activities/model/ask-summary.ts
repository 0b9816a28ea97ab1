/**
 * Asks the models of a step for a summary: a separate request, recorded and paid for like any other, and numbered apart
 * from those of the answer. Each model is asked once, and again with less of the record if it refuses it for its length. Nothing that a model does or returns fails the step.
 */

import { readRedactor } from '../../author/state/env-place.ts';
import type { ModelDefinition } from '../../core/author/definition.ts';
import { INSTRUCTIONS, readSummary, SUMMARY_CALLS, SUMMARY_TOKENS } from '../../core/context/summary.ts';
import type { ProviderRequest } from '../../core/message/provider.ts';
import type { ActiveSide } from '../../core/project/active-side.ts';
import type { AskedSoFar, BlockedStep } from '../../core/thread/step.ts';
import type { StepContext } from '../../store/step/step-place-record.ts';
import type { StepRef } from '../../store/transaction/from-run.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { logsManifests } from './call-estimate.ts';
import { askRecorded } from './model-call-record.ts';
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

export async function askSummary(
  ports: ActivityDependencies,
  { ref, context, active, asked }: SummarisedStep,
  record: string,
): Promise<AskedSummary> {
  const { modelCalls } = ports.store;
  const { thread } = context;
  const work = `${thread.id}:${ref.step}`;
  let declined = false;
  const result = await askRecorded(ports, ref, {
    models: findModels(ports.registry(), active),
    request: (model) => toRequest(model, thread.id, record),
    variables: () => readProviderVariables(ports, thread, active.prompt),
    redact: async (text) => (await readRedactor(ports, thread))(text),
    sizing: createSizing(context.counts),
    work,
    line: { ticket: `${work}:summary` },
    ...(asked && { asked: { ...NOT_ASKED, since: asked.since } }),
    limits: { retryDelaysMs: [] },
    logs: logsManifests(active, context) ? 'always' : 'bound',
    after: SUMMARY_CALLS,
    calls: {
      async start(command) {
        const started = await modelCalls.start({ ...command, purpose: 'compaction' });
        if (started.kind === 'declined') declined = true;
        return started.kind === 'declined' ? { kind: 'terminated' } : started;
      },
      end: modelCalls.end,
    },
  });
  if ('unsent' in result) {
    const { unsent } = result;
    if (declined || unsent.kind !== 'blocked') return { kind: 'nothing' };
    // The answer's own requests have not begun.
    return unsent.held
      ? { ...unsent, held: { ...unsent.held, asked: { ...NOT_ASKED, since: unsent.held.asked.since } } }
      : unsent;
  }
  const text = result.ok ? readSummary(result.response.content) : undefined;
  return text === undefined ? { kind: 'nothing' } : { kind: 'said', text };
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
