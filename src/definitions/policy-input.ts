/** What authors pass as the `policy` of an agent. Types alone; `policy-field.ts` checks them. */
import type { PolicyEffect } from '../core/governance/policy-rule.ts';

/**
 * Rules by the names of capabilities: `records.write`, `records.*` (whatever begins with `records.`), or `*`. The most specific one that
 * covers a capability holds: its exact name, else the longest `prefix.*`, else `*`.
 */
export type PolicyRulesInput = Readonly<Record<string, PolicyEffect>>;

export interface PolicyObjectInput {
  /** Default none. */
  rules?: PolicyRulesInput;
  /** For capabilities that no rule covers; default `allow`. */
  default?: PolicyEffect;
  /** For tools that declare no capability; default what `default` says. */
  undeclared?: PolicyEffect;
  /** `wait` (default): a call that needs an approval waits until somebody answers. `refuse`: it ends with `ApprovalRequired`. */
  approvals?: 'wait' | 'refuse';
}

/** Rules alone, or an object with them. */
export type PolicyInput = PolicyRulesInput | PolicyObjectInput;
