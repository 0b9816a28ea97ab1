/**
 * Policies that authors write (docs/governance.md): code that judges an action beside the rules of an agent, or what is spent beside the limits of
 * its budget. Types alone.
 */
import type { Action } from '../governance/agent-policy.ts';
import type { BudgetLine, Spending } from '../governance/budget.ts';
import type { PolicyDecision } from '../governance/capability-policy.ts';
import type { PolicyEffect } from '../governance/policy-rule.ts';
import type { RunContext } from '../governance/run-context.ts';
import type { SpendingEffect } from '../governance/spending-verdict.ts';

/** What would be done, as it is prepared; a copy. */
export interface JudgedCall extends Action {
  /** Checked, with their defaults. */
  readonly arguments: unknown;
}

/** For whom it would be done. */
export interface PolicyContext {
  readonly threadId: string;
  readonly agent: string;
  readonly userId: string | null;
  /** Null at rest, where an effect or an endpoint invokes a tool. */
  readonly executionId: string | null;
  /** Null where nobody has given one. */
  readonly context: RunContext | null;
  /** Fires when the work is aborted. */
  readonly signal: AbortSignal;
}

/** Nothing leaves it as the rules say. */
export type PolicyVerdict =
  | PolicyEffect
  | { readonly effect: PolicyEffect; readonly reason?: string }
  | null
  | undefined;

/** What is about to be spent; a copy. */
export interface JudgedSpending {
  /** A request to a model, or a call: of a tool, a prompt or an agent. */
  readonly kind: 'model.call' | Action['kind'];
  /** Of the model's definition, or of what is called. */
  readonly name: string;
  /** By limit, the least that it takes: one request or call, and of a request its tokens as they are estimated, and what they cost. */
  readonly spends: Spending;
  /** All that the execution spends from, its own budget first, its root's last. */
  readonly budget: readonly BudgetLine[];
  /** Whether `compact` can be done: of a request whose agent or prompt has `guards.compaction`, once for a step. Else it is a warning. */
  readonly mayCompact: boolean;
}

/** Nothing leaves it to the limits. */
export type SpendingAnswer =
  | SpendingEffect
  | { readonly effect: SpendingEffect; readonly reason?: string; readonly limit?: BudgetLine['limit'] }
  | null
  | undefined;

/** It has one of the two, or both. */
export interface PolicyDefinition {
  readonly kind: 'policy';
  /** From the file's name; set by discovery. */
  readonly name: string;
  /** For the `policy` of an agent. */
  readonly evaluate?: (
    action: JudgedCall,
    decision: PolicyDecision,
    context: PolicyContext,
  ) => PolicyVerdict | Promise<PolicyVerdict>;
  /** For the `budget` of an agent; `decision`: what its limits say. */
  readonly evaluateBudget?: (
    spending: JudgedSpending,
    decision: 'allow' | 'warn',
    context: PolicyContext,
  ) => SpendingAnswer | Promise<SpendingAnswer>;
}
