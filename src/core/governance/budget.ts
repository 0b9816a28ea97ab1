/**
 * What an execution may spend, and the verdict on a spending. Pure: the store keeps the rows and locks them.
 * - A limit of N allows N; 0 forbids the first. A spending that is denied is not counted.
 * G2. All limits of all accounts are checked in the order of BUDGET_LIMITS, the innermost account first. The first that
 *     denies is reported.
 * - Each line warns once, when `warnAt` of it is reached; a warning of one line never hides that of another.
 */

import { type Amount, type CountedLine, type Payment, toShown } from './budget-amount.ts';
import { type BudgetLimit, LINE_LIMITS } from './budget-line.ts';

/** The budget that an agent's definition sets for each of its executions. */
export interface BudgetDefinition extends Readonly<Partial<Record<BudgetLimit, number>>> {
  /** The share of a limit at which a warning is logged: 0.8 is 80 %; 0 never warns. */
  readonly warnAt: number;
  /** Name of a policy of `agents/policies` that judges in addition to the limits. */
  readonly evaluate?: string;
}

export type SpendingVerdict =
  /** The lines that change, with their new values, and those among them that warn now. */
  | {
      readonly kind: 'allow';
      readonly changed: readonly CountedLine[];
      readonly warns: readonly CountedLine[];
    }
  /** `observed`: what would have been used. */
  | { readonly kind: 'deny'; readonly line: CountedLine; readonly observed: Amount };

const places: Readonly<Record<string, number>> = Object.fromEntries(
  LINE_LIMITS.map((limit, index) => [limit, index]),
);

/** G2: sorts by limit; lines of the same limit stay in the order of their accounts. */
export function inOrder(lines: readonly CountedLine[]): CountedLine[] {
  return [...lines].sort((one, other) => (places[one.limit] ?? 0) - (places[other.limit] ?? 0));
}

/** G1 to G3. `lines`: those of the innermost account first. */
export function evaluateSpending(lines: readonly CountedLine[], payment: Payment): SpendingVerdict {
  const asked = inOrder(lines).filter(({ limit }) => (payment[limit] ?? 0n) > 0n);
  const spent = asked.map((line) => ({ ...line, used: line.used + (payment[line.limit] ?? 0n) }));
  const over = spent.find(({ used, max }) => used > max);
  const line = over && asked[spent.indexOf(over)];
  if (over && line) return { kind: 'deny', line, observed: over.used };
  const changed = spent.map((each) => ({ ...each, warned: each.warned || isNear(each) }));
  return {
    kind: 'allow',
    changed,
    warns: changed.filter(({ warned }, index) => warned && !asked[index]?.warned),
  };
}

/** `warnAt` 0 disables the warning, and a limit of 0 never warns. */
export function isNear({ used, max, warnAt }: Pick<CountedLine, 'used' | 'max' | 'warnAt'>): boolean {
  return warnAt > 0 && max > 0n && Number(used) >= warnAt * Number(max);
}

/** Text of a denial, for people and the thread's record. */
export function describeExceeded(
  { limit, max, threadId, executionId }: Pick<CountedLine, 'limit' | 'max' | 'threadId' | 'executionId'>,
  observed: Amount,
  asking: string,
): string {
  const whose =
    threadId === asking ? `execution ${executionId}` : `execution ${executionId} of thread ${threadId}`;
  return (
    `The budget of ${whose} is used up: ${limit} is ${toShown(limit, max)}, and this would be ${toShown(limit, observed)}. ` +
    `Send another message to begin a new execution, or raise the limit ${WHERE[limit === 'familyCalls' ? 'family' : 'own']}.`
  );
}

const WHERE = { own: 'in its agent or its context', family: 'in EVERTHREAD_FAMILY_CALLS' } as const;

export function describeUnpriced({ limit, max, executionId }: CountedLine, model: string): string {
  return (
    `The budget of execution ${executionId} has maxCost ${toShown(limit, max)}, and the model '${model}' has no price, so its cost cannot be counted: it was not called. ` +
    'Set its inputPrice and outputPrice, or leave maxCost out of the context.'
  );
}
