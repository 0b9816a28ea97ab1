/**
 * Policies that authors write (docs/governance.md): code that judges an action in addition to the rules of an agent, or
 * a spending in addition to the limits of its budget. Types alone.
 */
import type { Action } from '../governance/agent-policy.ts';
import type { BudgetLine, Spending } from '../governance/budget-line.ts';
import type { PolicyDecision } from '../governance/capability-policy.ts';
import type { PolicyEffect } from '../governance/policy-rule.ts';
import type { RunContext } from '../governance/run-context.ts';
import type { SpendingEffect } from '../governance/spending-verdict.ts';

/** The prepared action that is judged; a copy. */
export interface JudgedCall extends Action {
  /** Validated arguments, with their defaults. */
  readonly arguments: unknown;
}

/** The thread and execution on whose behalf it would be done. */
export interface PolicyContext {
  readonly threadId: string;
  readonly agent: string;
  readonly userId: string | null;
  /** Null at rest: an effect or an endpoint invokes the tool. */
  readonly executionId: string | null;
  /** Null if no context was given. */
  readonly context: RunContext | null;
  /** Fires when the work is aborted. */
  readonly signal: AbortSignal;
}

/** Null and undefined keep the decision of the rules. */
export type PolicyVerdict =
  | PolicyEffect
  | { readonly effect: PolicyEffect; readonly reason?: string }
  | null
  | undefined;

/** What is about to be spent; a copy. */
export interface JudgedSpending {
  /** A request to a model, or a call: of a tool, a prompt or an agent. */
  readonly kind: 'model.call' | Action['kind'];
  /** Name of the model's definition, or of the callee. */
  readonly name: string;
  /** The minimum spent, by limit: one request or call; for a request also its estimated tokens and their cost. */
  readonly spends: Spending;
  /** All budget lines that the execution spends from: its own budget first, its root's last. */
  readonly budget: readonly BudgetLine[];
  /**
   * True if `compact` is possible: for a request whose agent or prompt has `guards.compaction`, once per step.
   * Otherwise `compact` is a warning.
   */
  readonly mayCompact: boolean;
}

/** Null and undefined leave the decision to the limits. */
export type SpendingAnswer =
  | SpendingEffect
  | { readonly effect: SpendingEffect; readonly reason?: string; readonly limit?: BudgetLine['limit'] }
  | null
  | undefined;

/** A policy has at least one of the two functions. */
export interface PolicyDefinition {
  readonly kind: 'policy';
  /** From the file's name; set by discovery. */
  readonly name: string;
  /** Used by the `policy` of an agent. */
  readonly evaluate?: (
    action: JudgedCall,
    decision: PolicyDecision,
    context: PolicyContext,
  ) => PolicyVerdict | Promise<PolicyVerdict>;
  /** Used by the `budget` of an agent; `decision` is that of its limits. */
  readonly evaluateBudget?: (
    spending: JudgedSpending,
    decision: 'allow' | 'warn',
    context: PolicyContext,
  ) => SpendingAnswer | Promise<SpendingAnswer>;
}
