/**
 * The verdict of a policy that an author has written, on a spending that is about to be made. Pure.
 * - Limits always hold: the policy is asked only if no limit denies. It may be stricter than a limit, never milder.
 * - A verdict that cannot be read denies.
 */
import { evaluateSpending } from './budget.ts';
import { toCountedLine, toPayment } from './budget-amount.ts';
import { BUDGET_LIMITS, type BudgetLimit, type BudgetLine, type Spending } from './budget-line.ts';

/**
 * `allow` changes nothing, `warn` logs a warning, `compact` summarises the history first (a warning if that is not
 * possible), `ask` requires an approval, `deny` ends the execution.
 */
export const SPENDING_EFFECTS = ['allow', 'warn', 'compact', 'ask', 'deny'] as const;
export type SpendingEffect = (typeof SPENDING_EFFECTS)[number];

export interface SpendingVerdict {
  readonly effect: SpendingEffect;
  readonly reason: string;
  /** The limit that the verdict is about; absent if the policy named none. */
  readonly limit?: BudgetLimit;
}

const REASON_CHARS = 1000;

/** The verdict of the limits on the minimum that is spent. `warn`: one of them is, or would be, nearly used up. */
export function checkSpendingLimits(
  lines: readonly BudgetLine[],
  spends: Spending,
): 'allow' | 'warn' | 'deny' {
  const verdict = evaluateSpending(lines.map(toCountedLine), toPayment(spends));
  if (verdict.kind === 'deny') return 'deny';
  return verdict.changed.some(({ warned }) => warned) ? 'warn' : 'allow';
}

/** Undefined if the policy returned nothing. */
export function readSpendingVerdict(name: string, given: unknown): SpendingVerdict | undefined {
  if (given === undefined || given === null) return undefined;
  const fields = (typeof given === 'object' ? given : { effect: given }) as Record<string, unknown>;
  const effect = SPENDING_EFFECTS.find((each) => each === fields.effect);
  if (!effect) return { effect: 'deny', reason: `The policy "${name}" returned an invalid decision` };
  const limit = BUDGET_LIMITS.find((each) => each === fields.limit);
  const reason =
    typeof fields.reason === 'string'
      ? fields.reason.slice(0, REASON_CHARS)
      : `The policy "${name}" returned ${effect}`;
  return { effect, reason, ...(limit ? { limit } : {}) };
}
