/**
 * Stage: appends a reminder about a loop of calls behind all results. It comes from the runtime: no hook sees it, and
 * it is not stored.
 */
import { composeReminder } from '../../core/guard/loop.ts';
import { go, type Verdict } from '../../state/gate.ts';
import type { StepContext } from '../../store/step/step-place-record.ts';
import type { History } from './assemble.ts';

export function remind(
  _ports: unknown,
  { context: { loops = [] }, history }: History & { readonly context: Pick<StepContext, 'loops'> },
): Verdict<History, never> {
  if (loops.length === 0) return go({ history });
  return go({ history: [...history, { role: 'user', content: composeReminder(loops) }] });
}
