/** How a call of a step is dispatched. */
import type { CallRef, StepCalls } from '../core/thread/step.ts';

/** The outcome names only the first calls; an unnamed call is dispatched in the most cautious way. */
const UNNAMED_TOOL: CallRef = { name: 'a tool', mode: 'once', timeoutMs: 30 * 60_000 };
const UNNAMED_CHILD: CallRef = { name: 'a subagent', mode: 'child', timeoutMs: 1000 };
const UNNAMED_PROMPT: CallRef = { name: 'a prompt', mode: 'prompt', timeoutMs: 1000 };

export function callAt({ calls, laterPrompts = [], laterChildren = [] }: StepCalls, index: number): CallRef {
  const named = calls[index];
  if (named) return named;
  if (laterChildren.includes(index)) return UNNAMED_CHILD;
  return laterPrompts.includes(index) ? UNNAMED_PROMPT : UNNAMED_TOOL;
}
