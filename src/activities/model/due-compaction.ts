/** Decides whether the older part of a step's messages is to be replaced by a summary before its model is asked. */
import type { Registry } from '../../core/author/registry.ts';
import { type CompactionPlan, planCompaction } from '../../core/context/compaction.ts';
import { chooseMessages, pairResults } from '../../core/context/context.ts';
import { estimateProviderMessage } from '../../core/context/context-estimate.ts';
import { showToSide } from '../../core/context/context-side.ts';
import { openWithSummary } from '../../core/context/summary.ts';
import { charactersPerToken } from '../../core/context/token-ratio.ts';
import { findGuards } from '../../core/guard/guards.ts';
import type { ActiveSide } from '../../core/project/active-side.ts';
import type { StepContext } from '../../store/step/step-place-record.ts';
import { roomForMessages } from './history-window.ts';

export interface DueCompaction extends CompactionPlan {
  /** Characters that the models' windows leave for messages. */
  readonly chars: number;
}

/** Undefined if no summary is due, or the definition asks for none. */
export function dueCompaction(
  registry: Registry,
  active: ActiveSide,
  context: StepContext,
  /** True if the policy of the budget asks for it. */
  wanted = false,
): DueCompaction | undefined {
  const { agent, prompt } = active;
  const { compaction } = findGuards(agent, prompt);
  if (!compaction) return undefined;
  const { executionId, side, messages, trimmed, summary } = context;
  const { includeChat, includePastTools } = prompt;
  const chosen = chooseMessages(messages, { executionId, includeChat, includePastTools });
  const shown = showToSide(pairResults(chosen), side);
  const { tokens, scale } = roomForMessages(registry, active, context);
  const opening = openWithSummary(summary, shown).reduce(
    (sum, message) => sum + estimateProviderMessage(message, scale.ratio),
    0,
  );
  const view = {
    shown,
    room: tokens - opening,
    scale,
    trimmed: trimmed > 0,
    again: summary !== undefined,
    wanted,
  };
  const plan = planCompaction(view, compaction);
  return plan && { ...plan, chars: Math.floor(tokens * (scale.ratio ?? ratioOf(plan.covered))) };
}

/** Characters of a token, by the script of the longest message. */
function ratioOf(covered: CompactionPlan['covered']): number {
  const longest = covered.reduce(
    (one, { content }) => ((content?.length ?? 0) > one.length ? (content ?? '') : one),
    '',
  );
  return charactersPerToken(longest);
}
