/** Limits of a run, given by the caller that starts it. If there are two, the lower one holds. */

import { BUDGET_LIMITS, type BudgetLimit } from './budget-line.ts';

/** Limits of a run; each is absent if it was not set. */
export interface RunLimits extends Readonly<Partial<Record<BudgetLimit, number>>> {
  /** The share of a limit at which the log warns: 0.8 is four fifths. */
  readonly warnAt?: number;
}

export const RUN_LIMITS = [...BUDGET_LIMITS, 'warnAt'] as const;

/** Default of `warnAt`. */
export const WARN_AT = 0.8;

/** Returns the lower of each limit. A `warnAt` of 0 disables warnings; any value above 0 takes precedence. */
export function joinLimits(one: RunLimits, other: RunLimits): RunLimits {
  const joined: Partial<Record<keyof RunLimits, number>> = {};
  for (const name of RUN_LIMITS) {
    const known = [one[name], other[name]].filter((limit) => limit !== undefined);
    const counted =
      name === 'warnAt' && known.some((part) => part > 0) ? known.filter((part) => part > 0) : known;
    if (counted.length > 0) joined[name] = Math.min(...counted);
  }
  return joined;
}
