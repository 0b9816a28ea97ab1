/**
 * Asks the policy that an agent's budget names (`budget.evaluate`) about what is to be spent, before it is: within the time of a hook, where no limit
 * denies. It may be asked more than once for the same, and fails closed.
 * D1. What it denies is told in the store, by which the execution is over: whoever pays is refused with the same words.
 */
import type { Registry } from '../core/author/definition.ts';
import type { JudgedSpending, PolicyContext, PolicyDefinition } from '../core/author/policy.ts';
import {
  foreseeSpending,
  readSpendingVerdict,
  type SpendingVerdict,
} from '../core/governance/spending-verdict.ts';
import { errorMessage } from '../core/value/error.ts';
import type { ThreadRecord, ThreadStore } from '../store/port/thread-store.ts';
import { runAuthorCode } from './author-run.ts';
import { freezeDeep } from './freeze-deep.ts';
import { withinTime } from './within-time.ts';

/** Undefined where nothing but the limits judges. */
export function findSpender(
  { agents, policies }: Pick<Registry, 'agents' | 'policies'>,
  agent: string,
): PolicyDefinition | undefined {
  const name = agents.get(agent)?.budget?.evaluate;
  return name === undefined ? undefined : policies.get(name);
}

interface Spent
  extends Omit<JudgedSpending, 'budget' | 'mayCompact'>,
    Partial<Pick<JudgedSpending, 'mayCompact'>>,
    Omit<PolicyContext, 'threadId' | 'agent' | 'userId'> {
  readonly thread: ThreadRecord;
  readonly step?: number;
  /** Whose work it is. */
  readonly work: string;
}

/** Undefined where it has nothing against it, or the limits deny it anyway. */
export async function judgeSpending(
  { budgets }: Pick<ThreadStore, 'budgets'>,
  policy: PolicyDefinition,
  spent: Spent,
): Promise<SpendingVerdict | undefined> {
  const { thread, step } = spent;
  const budget = await budgets.read(thread.id);
  const decision = foreseeSpending(budget, spent.spends);
  if (budget.length === 0 || decision === 'deny') return undefined;
  const verdict = await evaluate(policy, spent, { budget, decision });
  if (!verdict || verdict.effect === 'allow') return undefined;
  const { reason, limit } = verdict;
  // Nothing can be made shorter.
  const effect = verdict.effect === 'compact' && !spent.mayCompact ? 'warn' : verdict.effect;
  // D1: the row says so.
  if (effect === 'warn' || effect === 'deny')
    await budgets.tell({ effect, reason, limit, threadId: thread.id, step, policy: policy.name });
  return { ...verdict, effect };
}

async function evaluate(
  { name, evaluateBudget }: PolicyDefinition,
  { thread, kind, name: what, spends, mayCompact = false, executionId, context, signal, work }: Spent,
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
