/**
 * What a policy that an author has written says of what is about to be spent, and what comes of it. Pure.
 * S1. A limit holds whatever it says: it is asked where no limit denies, and may be stricter than one, never milder.
 * S2. What cannot be read denies.
 */
import {
  BUDGET_LIMITS,
  type BudgetLimit,
  type BudgetLine,
  evaluateSpending,
  type Spending,
} from './budget.ts';

/**
 * `allow` leaves it as it is, `warn` has the log tell it, `compact` has the history summarised first (a warning where it cannot be), `ask` wants an
 * approval, `deny` ends the execution.
 */
export const SPENDING_EFFECTS = ['allow', 'warn', 'compact', 'ask', 'deny'] as const;
export type SpendingEffect = (typeof SPENDING_EFFECTS)[number];

export interface SpendingVerdict {
  readonly effect: SpendingEffect;
  readonly reason: string;
  /** The limit that it is about; absent where it has named none. */
  readonly limit?: BudgetLimit;
}

const REASON_CHARS = 1000;

/** S1: what the limits say of the least that is spent. `warn`: one of them has been, or would be, nearly used up. */
export function foreseeSpending(lines: readonly BudgetLine[], spends: Spending): 'allow' | 'warn' | 'deny' {
  const verdict = evaluateSpending(lines, spends);
  if (verdict.kind === 'deny') return 'deny';
  return verdict.changed.some(({ warned }) => warned) ? 'warn' : 'allow';
}

/** S2: undefined where it has said nothing. */
export function readSpendingVerdict(name: string, given: unknown): SpendingVerdict | undefined {
  if (given === undefined || given === null) return undefined;
  const said = (typeof given === 'object' ? given : { effect: given }) as Record<string, unknown>;
  const effect = SPENDING_EFFECTS.find((each) => each === said.effect);
  if (!effect) return { effect: 'deny', reason: `The policy "${name}" answered what is no decision` };
  const limit = BUDGET_LIMITS.find((each) => each === said.limit);
  const reason =
    typeof said.reason === 'string'
      ? said.reason.slice(0, REASON_CHARS)
      : `The policy "${name}" says ${effect}`;
  return { effect, reason, ...(limit ? { limit } : {}) };
}
