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
  /** A policy of `agents/policies` by its name, which judges beside the rules; see `definePolicy`. */
  evaluate?: string;
  /** `wait` (default): a call that needs an approval waits until somebody answers. `refuse`: it ends with `ApprovalRequired`. */
  approvals?: 'wait' | 'refuse';
  /**
   * `continue` (default): the model reads that a call was not done, and goes on. `fail`: the execution ends with the status `failed` and the
   * denial's code; calls of the same answer behind it do not begin. The thread lives on.
   */
  onDenied?: 'continue' | 'fail';
  /**
   * `continue` (default): where a worker was lost within a tool that may run once, the model reads that its outcome is unknown, and goes on. `wait`: the
   * thread waits until a person says what became of it, by `reconcileAction` or as the answer of the wait; the model reads that.
   */
  onUncertain?: 'continue' | 'wait';
}

/** Rules alone, or an object with them. */
export type PolicyInput = PolicyRulesInput | PolicyObjectInput;
