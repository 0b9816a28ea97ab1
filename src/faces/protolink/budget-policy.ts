/** A policy of budgets under Protolink's names. The engine enforces limits; a policy can only be stricter. */
import type { JudgedSpending, PolicyDefinition, SpendingAnswer } from '../../core/author/policy.ts';
import type { GivenContext } from '../../core/governance/run-context.ts';
import { WARN_AT } from '../../core/governance/run-limit.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { type AgentInput, definePolicy } from '../../definitions/index.ts';
import { checkNames } from '../known-names.ts';
import { RunContext } from './run-context.ts';

/**
 * Warns near a limit. A subclass may also judge each spending: its `evaluate` is called for what no limit denies.
 * @example
 * ```ts
 * class Thrift extends BudgetPolicy {
 *   override evaluate(_: unknown, decision: 'allow' | 'warn') {
 *     return decision === 'warn' ? ('deny' as const) : undefined;
 *   }
 * }
 * const agent = new Agent({ name: 'worker', description: 'Worker' }, { budgetPolicy: new Thrift({ warningRatio: 0.5 }) });
 * ```
 */
export class BudgetPolicy {
  readonly warningRatio: number;

  /** `warningRatio`: the share of a limit at which it warns, 0 for never. Throws `InvalidValue`. */
  constructor(given: { readonly warningRatio?: number } = {}) {
    checkNames('A budget policy', 'option', given, { warningRatio: true });
    const { warningRatio = WARN_AT } = given;
    if (!(warningRatio >= 0 && warningRatio <= 1))
      throw new RuntimeError('InvalidValue', 'A "warningRatio" must be a number from 0 to 1.');
    this.warningRatio = warningRatio;
  }

  /** Returns an effect, `{ effect, reason, limit }`, or nothing, which leaves the decision to the limits. */
  evaluate(
    _spending: JudgedSpending,
    _decision: 'allow' | 'warn',
    _context: RunContext,
  ): SpendingAnswer | Promise<SpendingAnswer> {
    return undefined;
  }
}

/** Converts a policy to fields of an agent, and to the definition that they name. */
export function toBudget(
  policy: BudgetPolicy | undefined,
  name: string,
): {
  readonly budget: Pick<AgentInput, 'budget'>;
  readonly policies: Readonly<Record<string, PolicyDefinition>>;
} {
  if (!policy) return { budget: {}, policies: {} };
  const spending = definePolicy({
    evaluateBudget: (given, decision, { context }) =>
      policy.evaluate(given, decision, new RunContext((context ?? {}) as GivenContext)),
  });
  // A budget has at least one limit: this one is the engine's own.
  const budget = { maxSteps: LIMITS.stepsPerExecution, warnAt: policy.warningRatio, evaluate: name };
  return { budget: { budget }, policies: { [name]: spending } };
}
