/**
 * Runs the policy that an agent's budget names (`budget.evaluate`) before a spending, within the time limit of a hook
 * and only if no limit denies. It may run more than once for the same spending, and fails closed.
 * - A denial is stored, which ends the execution: every later payment is refused with the same reason.
 */

import type { JudgedSpending, PolicyContext, PolicyDefinition } from '../../core/author/policy.ts';
import type { Registry } from '../../core/author/registry.ts';
import {
  checkSpendingLimits,
  readSpendingVerdict,
  type SpendingVerdict,
} from '../../core/governance/spending-verdict.ts';
import { errorMessage } from '../../core/value/error.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import { runAuthorCode } from '../guard/author-run.ts';
import { withinTime } from '../guard/within-time.ts';
import { freezeDeep } from '../tool/freeze-deep.ts';

/** Returns the budget's policy; undefined if only the limits judge. */
export function findSpendingPolicy(
  { agents, policies }: Pick<Registry, 'agents' | 'policies'>,
  agent: string,
): PolicyDefinition | undefined {
  const name = agents.get(agent)?.budget?.evaluate;
  return name === undefined ? undefined : policies.get(name);
}

interface SpendingRequest
  extends Omit<JudgedSpending, 'budget' | 'mayCompact'>,
    Partial<Pick<JudgedSpending, 'mayCompact'>>,
    Omit<PolicyContext, 'threadId' | 'agent' | 'userId'> {
  readonly thread: ThreadRecord;
  readonly step?: number;
  /** Key of the work, as in AuthorRun. */
  readonly work: string;
}

/** Returns the policy's verdict; undefined if it allows the spending, or if a limit denies it anyway. */
export async function judgeSpending(
  { budgets }: Pick<ThreadStore, 'budgets'>,
  policy: PolicyDefinition,
  spent: SpendingRequest,
): Promise<SpendingVerdict | undefined> {
  const { thread, step } = spent;
  const budget = await budgets.read(thread.id);
  const decision = checkSpendingLimits(budget, spent.spends);
  if (budget.length === 0 || decision === 'deny') return undefined;
  const verdict = await evaluate(policy, spent, { budget, decision });
  if (!verdict || verdict.effect === 'allow') return undefined;
  const { reason, limit } = verdict;
  // A history that cannot be summarised: `compact` becomes a warning.
  const effect = verdict.effect === 'compact' && !spent.mayCompact ? 'warn' : verdict.effect;
  // Stores a denial; a warning is logged.
  if (effect === 'warn' || effect === 'deny')
    await budgets.emitVerdict({ effect, reason, limit, threadId: thread.id, step, policy: policy.name });
  return { ...verdict, effect };
}

async function evaluate(
  { name, evaluateBudget }: PolicyDefinition,
  {
    thread,
    kind,
    name: what,
    spends,
    mayCompact = false,
    executionId,
    context,
    signal,
    work,
  }: SpendingRequest,
  { budget, decision }: Pick<JudgedSpending, 'budget'> & { readonly decision: 'allow' | 'warn' },
): Promise<SpendingVerdict | undefined> {
  const { id: threadId, agent, userId } = thread;
  const judged = freezeDeep(structuredClone({ kind, name: what, spends, budget, mayCompact }));
  const place = {
    threadId,
    agent,
    userId,
    executionId,
    context: freezeDeep(structuredClone(context)),
    signal,
  };
  const run = { code: 'policy', name, threadId, work } as const;
  try {
    const answer = await withinTime(
      async () => runAuthorCode(run, async () => evaluateBudget?.(judged, decision, place)),
      { signal },
    );
    return readSpendingVerdict(name, answer);
  } catch (error) {
    if (signal.aborted) throw error;
    return { effect: 'deny', reason: `The policy "${name}" could not judge it: ${errorMessage(error)}` };
  }
}
