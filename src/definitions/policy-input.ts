/** What authors pass as the `policy` of an agent. Types alone; `policy-field.ts` checks them. */

import type { PolicyEffect } from '../core/governance/policy-rule.ts';
import type { WaitScope } from '../core/wait/answer.ts';

/**
 * Rules by the names of capabilities: `records.write`, `records.*` (all that begin with `records.`), or `*`. The most
 * specific rule that covers a capability applies: its exact name, else the longest `prefix.*`, else `*`.
 */
export type PolicyRulesInput = Readonly<Record<string, PolicyEffect>>;

export interface PolicyObjectInput {
  /** Default none. */
  rules?: PolicyRulesInput;
  /** Effect for capabilities that no rule covers; default `allow`. */
  default?: PolicyEffect;
  /** Effect for tools that declare no capability; default: the effect of `default`. */
  undeclared?: PolicyEffect;
  /** Name of a policy of `agents/policies` that judges in addition to the rules; see `definePolicy`. */
  evaluate?: string;
  /**
   * `wait` (default): a call that needs an approval waits for the answer. `refuse`: it ends with `ApprovalRequired`.
   */
  approvals?: 'wait' | 'refuse';
  /**
   * `continue` (default): the model reads that a call was not done, and goes on. `fail`: the execution ends with the
   * status `failed` and the denial's code, and later calls of the same answer do not begin. The thread remains usable.
   */
  onDenied?: 'continue' | 'fail';
  /**
   * What follows if a worker was lost during a tool that may run only once. `continue` (default): the model reads that
   * the outcome is unknown, and goes on. `wait`: the thread waits until a person reports the outcome, by
   * `reconcileAction` or as the answer to the wait; the model reads that.
   */
  onUncertain?: 'continue' | 'wait';
  /**
   * How far a person may grant what needs a capability, by its name as in `rules`: `once` (each call is asked about),
   * `execution`, `thread` or `always`. Default `always`; for every call of a tool of an MCP server or an agent
   * elsewhere, `execution`.
   */
  grants?: Readonly<Record<string, WaitScope>>;
}

/** Rules only, or an object that contains them. */
export type PolicyInput = PolicyRulesInput | PolicyObjectInput;
