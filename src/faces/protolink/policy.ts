/** Policies under Protolink's names: rules by capability, or code that judges each action. */

import type { PolicyDefinition, PolicyVerdict } from '../../core/author/policy.ts';
import {
  decide,
  type PolicyDecision,
  type CapabilityPolicy as Rules,
} from '../../core/governance/capability-policy.ts';
import { readPermissions, toEffect } from '../../core/governance/permissions.ts';
import { isRuleName, type PolicyEffect, type PolicyRules } from '../../core/governance/policy-rule.ts';
import type { GivenContext } from '../../core/governance/run-context.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { definePolicy } from '../../definitions/index.ts';
import { type Fields, type RunAction, toAction } from './artifact.ts';
import { RunContext } from './run-context.ts';

/** Code that judges actions. It cannot allow what the run's context forbids; if it throws, the action is denied. */
export interface Policy {
  evaluate(action: RunAction, context: RunContext): PolicyVerdict | Promise<PolicyVerdict>;
}

/**
 * Rules by capability. An action that declares no capability is allowed, as in Protolink.
 * @example
 * ```ts
 * const policy = new CapabilityPolicy({ 'records.read': 'allow', 'records.write': 'require_approval', 'records.*': 'deny' });
 * const action = new RunAction({ kind: 'tool.call', name: 'publish', capabilities: ['records.write'] });
 * console.log(policy.evaluate(action).effect); // require_approval
 * ```
 */
export class CapabilityPolicy implements Rules {
  readonly rules: PolicyRules;
  readonly default: PolicyEffect;
  readonly undeclared = 'allow';

  /** A rule is an effect, `true` (allow) or `false` (deny). Throws `InvalidValue`. */
  constructor(
    rules: Fields = {},
    { defaultEffect = 'allow' }: { readonly defaultEffect?: PolicyEffect } = {},
  ) {
    this.rules = Object.fromEntries(
      Object.entries(rules).map(([name, rule]) => [name, readRule(name, rule)]),
    );
    this.default = defaultEffect;
  }

  /** Judges an action as the engine judges a call. */
  evaluate({ capabilities }: RunAction, context?: RunContext): PolicyDecision {
    return decide(this, capabilities, context && readPermissions(context.given.permissions ?? {}));
  }
}

function readRule(name: string, rule: unknown): PolicyEffect {
  const effect = toEffect(rule);
  if (effect !== undefined && isRuleName(name)) return effect;
  const problem = effect
    ? 'is not a capability name, "prefix.*" or "*"'
    : 'must be allow, require_approval or deny';
  throw new RuntimeError('InvalidValue', `The rule "${name}" ${problem}.`);
}

/** Converts a policy to definitions: the policy of an agent (`says`), and the policies that it names. */
export function toPolicies(
  policy: CapabilityPolicy | Policy,
  name: string,
): {
  readonly says: object;
  readonly policies: Readonly<Record<string, PolicyDefinition>>;
} {
  if ('rules' in policy) {
    const { rules, default: fallback, undeclared } = policy;
    return { says: { rules, default: fallback, undeclared }, policies: {} };
  }
  const own = definePolicy({
    evaluate: (action, _decision, { context }) =>
      policy.evaluate(toAction(action), new RunContext((context ?? {}) as GivenContext)),
  });
  return { says: { evaluate: name, default: 'allow', undeclared: 'allow' }, policies: { [name]: own } };
}
