/**
 * Stage: if the history exceeds what its definition allows, its older part is replaced by a summary before the request
 * is assembled. The messages themselves are not changed.
 * - At most one model call of a step is for a summary. If messages are changed while it is written, it is discarded:
 *   a snippet of the present messages is used instead.
 * - A model that fails, returns nothing or is over budget costs the summary, never the step. A snippet of the newest
 *   messages replaces the summary.
 * - A worker that is lost while it summarises leaves nothing behind. If it is lost after the commit, no compaction is
 *   due any more.
 */

import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import { end, go, type Verdict } from '../../author/policy/gate.ts';
import { readRedactor } from '../../author/state/env-place.ts';
import type { ModelDefinition } from '../../core/author/definition.ts';
import type { Compaction } from '../../core/author/hook.ts';
import {
  composeRecord,
  composeSnippet,
  findAsked,
  INSTRUCTIONS,
  readSummary,
  SUMMARY_CALLS,
  SUMMARY_TOKENS,
  type Summary,
} from '../../core/context/summary.ts';
import type { SnippetCause } from '../../core/event/cause.ts';
import type { ProviderRequest } from '../../core/message/provider.ts';
import type { ActiveSide } from '../../core/project/active-side.ts';
import type { AskedSoFar, BlockedStep } from '../../core/thread/step.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { StepContext } from '../../store/step/step-place-record.ts';
import type { StepRef } from '../../store/transaction/from-run.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import { logsManifests } from '../model/call-estimate.ts';
import { type DueCompaction, dueCompaction } from '../model/due-compaction.ts';
import { historyWindow, summaryKey } from '../model/history-window.ts';
import { askRecorded, chainOf, NO_ORIGINS, type UnsentRequest } from '../model/model-call-record.ts';
import { findModels } from '../model/request.ts';
import { createSizing } from '../model/request-sizing.ts';
import { readProviderVariables } from '../model/step-env.ts';
import type { ReadStep } from './read-step.ts';

interface Compacted extends Pick<ReadStep, 'context' | 'compacted'> {
  /** True if compacted within this step, which happens at most once. */
  readonly hasCompacted: boolean;
}

type CompactedStep = Pick<ReadStep, 'ref' | 'context' | 'active' | 'asked'>;

/** The share of the window that the record may take. */
const SHARE = 0.75;

/** Stage: compacts the history if that is due. */
export function compact(ports: ActivityDependencies, step: CompactedStep) {
  return compactIfDue(ports, step, false);
}

/** Compacts for a policy of the budget that asks for a shorter request. The step must not have been compacted yet. */
export function compactForBudget(ports: ActivityDependencies, step: CompactedStep) {
  return compactIfDue(ports, step, true);
}

async function compactIfDue(
  ports: ActivityDependencies,
  step: CompactedStep,
  wanted: boolean,
): Promise<Verdict<Compacted, UnsentRequest>> {
  let { context } = step;
  for (let asks = true; ; asks = false) {
    const due = dueCompaction(ports.registry(), step.active, context, wanted);
    if (!due) return go({ context, hasCompacted: false });
    const asked: AskedSummary = asks
      ? await askSummary(ports, { ...step, context }, toRecord(due, context))
      : { kind: 'nothing', because: 'edited' };
    if (asked.kind === 'blocked') return end(asked);
    await ports.probe?.('summarised');
    const kept = await storeCompaction(ports, { ...step, context }, due, asked);
    await ports.probe?.('summary_kept');
    if (kept) {
      const compacted = kept.kind === 'kept' ? describe(step, context, due, kept.summary) : undefined;
      const shorter = { context: withSummary(context, kept.summary), hasCompacted: true };
      return go({ ...shorter, compacted });
    }
    const { threadId, step: number } = step.ref;
    context = await ports.store.steps.readContext(threadId, number, historyWindow(ports.registry()));
  }
}

function toRecord({ covered, chars }: DueCompaction, { summary }: StepContext): string {
  return composeRecord(covered, summary, Math.min(Math.floor(chars * SHARE), LIMITS.recordChars));
}

/** `closed`: another attempt has the step, so nothing is stored. */
type StoredCompaction = { readonly kind: 'kept' | 'closed'; readonly summary: Summary };

/** Undefined if messages were changed in the meantime. */
async function storeCompaction(
  { store, handover }: ActivityDependencies,
  { ref, context, active }: Pick<ReadStep, 'ref' | 'context' | 'active'>,
  { covered, until, messageId, reason, size, limit }: DueCompaction,
  asked: AskedSummary,
): Promise<StoredCompaction | undefined> {
  const { summary: before, thread } = context;
  const key = summaryKey(active, context);
  if (!key) return undefined;
  const count = covered.length;
  const summary: Summary = {
    until,
    messages: (before?.messages ?? 0) + count,
    text: asked.kind === 'said' ? asked.text : composeSnippet(covered, before),
    asked: findAsked(covered, before),
  };
  const because = asked.kind === 'nothing' ? asked.because : undefined;
  const eventData = { messageId, count, reason, size, limit, because, seen: thread.lastSeq };
  // The summary has been paid for: it is not dropped because the store is full.
  const kept = await retryWhileUnavailable(abortSignal(handover), () =>
    store.steps.saveSummary({ ...ref, ...key, ...eventData, summary }),
  );
  if (kept.kind === 'outdated') return undefined;
  return kept.kind === 'kept' ? kept : { kind: 'closed', summary };
}

/** What hooks receive about the compaction. */
function describe(
  { ref, active }: Pick<ReadStep, 'ref' | 'active'>,
  { side }: StepContext,
  { covered, messageId }: DueCompaction,
  { text: summary }: Summary,
): Compaction {
  const prompt = active.prompt.name;
  const key = `${ref.threadId}:${side}:${prompt}:${messageId}:summary`;
  return { key, count: covered.length, summary, messageId, prompt };
}

/** The context as the store would return it now. */
function withSummary(context: StepContext, summary: Summary): StepContext {
  const messages = context.messages.filter(({ created_at: at }) => at > summary.until);
  return { ...context, messages, summary };
}

export interface SummarisedStep {
  readonly ref: StepRef;
  readonly context: StepContext;
  readonly active: ActiveSide;
  /** Set if an earlier activity was left because a model took no request. */
  readonly asked?: AskedSoFar;
}

export type AskedSummary =
  | { readonly kind: 'said'; readonly text: string }
  /** No model has returned a text, or none was asked. */
  | { readonly kind: 'nothing'; readonly because: SnippetCause }
  /** Other requests hold the rest of the budget. */
  | BlockedStep;

/** Before the first request of a model. */
const NOT_ASKED = { position: 0, refusals: 0, attempts: 0 } as const;

/**
 * Asks the models of a step for a summary: a separate request, recorded and paid for like any other, and numbered apart
 * from those of the answer. Each model is asked once, and again with less of the record if it refuses it for its length.
 * Nothing that a model does or returns fails the step.
 */
async function askSummary(
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
    from: { ...NO_ORIGINS, chain: chainOf(context, active, 'summary'), ownPrompt: true },
    work,
    line: { ticket: `${work}:summary` },
    asked: asked && { ...NOT_ASKED, since: asked.since },
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
    if (declined || unsent.kind !== 'blocked') return { kind: 'nothing', because: 'budget' };
    // The answer's own requests have not begun.
    return unsent.held
      ? { ...unsent, held: { ...unsent.held, asked: { ...NOT_ASKED, since: unsent.held.asked.since } } }
      : unsent;
  }
  if (!result.ok) return { kind: 'nothing', because: 'failed' };
  const text = readSummary(result.response.content);
  return text === undefined ? { kind: 'nothing', because: 'empty' } : { kind: 'said', text };
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
