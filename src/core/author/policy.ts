/** Policies that authors write (docs/governance.md): code that judges an action beside the rules of an agent. Types alone. */
import type { Action } from '../governance/agent-policy.ts';
import type { PolicyDecision } from '../governance/capability-policy.ts';
import type { PolicyEffect } from '../governance/policy-rule.ts';
import type { RunContext } from '../governance/run-context.ts';

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

export interface PolicyDefinition {
  readonly kind: 'policy';
  /** From the file's name; set by discovery. */
  readonly name: string;
  readonly evaluate: (
    action: JudgedCall,
    decision: PolicyDecision,
    context: PolicyContext,
  ) => PolicyVerdict | Promise<PolicyVerdict>;
}
