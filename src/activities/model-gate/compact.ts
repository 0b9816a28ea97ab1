/**
 * Stage: where the history has grown beyond what its definition says, its older part gives place to a summary before the request is
 * assembled. The messages themselves stay as they are.
 * K1. At most one model call of a step is for a summary. What was changed while it was written is not what was summarised: then a snippet
 *     stands for what there is now.
 * K2. A model that fails, says nothing or is over budget costs the summary, never the step: a snippet of the newest messages stands in.
 * K3. A worker that is lost while it summarises leaves nothing; one that is lost behind the commit leaves a history that is not due any more.
 */
import type { Compaction } from '../../core/author/hook.ts';
import { composeRecord, composeSnippet, findAsked, type Summary } from '../../core/context/summary.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { end, go, type Verdict } from '../../state/gate.ts';
import { retryWhileUnavailable } from '../../state/retry-while-unavailable.ts';
import type { StepContext } from '../../store/port/step.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import { type AskedSummary, askSummary } from '../model/ask-summary.ts';
import { type DueCompaction, dueCompaction } from '../model/due-compaction.ts';
import { historyWindow, summaryKey } from '../model/history-window.ts';
import type { Unsent } from '../model/model-call-record.ts';
import type { ReadStep } from './read-step.ts';

interface Compacted extends Pick<ReadStep, 'context' | 'compacted'> {
  /** Within this step, which it is once (K1). */
  readonly hasCompacted: boolean;
}

type CompactedStep = Pick<ReadStep, 'ref' | 'context' | 'active'>;

/** Characters of a token, and how much of a window the record may take. */
const [CHARACTERS, SHARE] = [4, 0.75];

/** Stage. */
export function compact(
  ports: ActivityDependencies,
  step: CompactedStep,
): Promise<Verdict<Compacted, Unsent>> {
  return compactWhere(ports, step, false);
}

/** The policy of the budget wants a shorter request: of a step that has not been compacted. */
export function compactForBudget(
  ports: ActivityDependencies,
  step: CompactedStep,
): Promise<Verdict<Compacted, Unsent>> {
  return compactWhere(ports, step, true);
}

async function compactWhere(
  ports: ActivityDependencies,
  step: CompactedStep,
  wanted: boolean,
): Promise<Verdict<Compacted, Unsent>> {
  let { context } = step;
  for (let asks = true; ; asks = false) {
    const due = dueCompaction(ports.registry(), step.active, context, wanted);
    if (!due) return go({ context, hasCompacted: false });
    // K1: once.
    const asked: AskedSummary = asks
      ? await askSummary(ports, { ...step, context }, toRecord(due, context))
      : { kind: 'nothing' };
    if (asked.kind === 'blocked') return end(asked);
    await ports.probe?.('summarised');
    const kept = await keep(ports, { ...step, context }, due, asked);
    await ports.probe?.('summary_kept');
    if (kept) {
      const compacted = kept.kind === 'kept' ? describe(step, context, due, kept.summary) : undefined;
      const shorter = { context: withSummary(context, kept.summary), hasCompacted: true };
      return go({ ...shorter, ...(compacted && { compacted }) });
    }
    const { threadId, step: number } = step.ref;
    context = await ports.store.steps.readContext(threadId, number, historyWindow(ports.registry()));
  }
}

function toRecord({ covered, room }: DueCompaction, { summary }: StepContext): string {
  const chars = Math.min(Math.floor(room * CHARACTERS * SHARE), LIMITS.recordChars);
  return composeRecord(covered, summary, chars);
}

/** Closed: another attempt has the step, so nothing of it is stored. */
type Kept = { readonly kind: 'kept' | 'closed'; readonly summary: Summary };

/** Undefined where messages were changed meanwhile. */
async function keep(
  { store, handover }: ActivityDependencies,
  { ref, context, active }: Pick<ReadStep, 'ref' | 'context' | 'active'>,
  { covered, until, messageId, reason }: DueCompaction,
  asked: AskedSummary,
): Promise<Kept | undefined> {
  const { summary: before, thread } = context;
  const key = summaryKey(active, context);
  if (!key) return undefined;
  const count = covered.length;
  const summary: Summary = {
    until,
    messages: (before?.messages ?? 0) + count,
    // K2: a snippet stands in.
    text: asked.kind === 'said' ? asked.text : composeSnippet(covered, before),
    asked: findAsked(covered, before),
  };
  const told = { messageId, count, reason, fallback: asked.kind !== 'said', seen: thread.lastSeq };
  // The summary was paid for: it is not given up for want of room.
  const kept = await retryWhileUnavailable(abortSignal(handover), () =>
    store.steps.keepSummary({ ...ref, ...key, ...told, summary }),
  );
  if (kept.kind === 'outdated') return undefined;
  return kept.kind === 'kept' ? kept : { kind: 'closed', summary };
}

/** What hooks are told of it. */
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

/** As the store would read it now. */
function withSummary(context: StepContext, summary: Summary): StepContext {
  const messages = context.messages.filter(({ created_at: at }) => at > summary.until);
  return { ...context, messages, summary };
}
