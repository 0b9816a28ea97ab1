/**
 * The decision of a policy about an action, from the capabilities that the action needs.
 * - Per capability, the stronger effect of the agent's policy and the context's rules holds: a context narrows, never
 *   widens.
 * - An action has the strongest effect of all its capabilities; the capabilities with that effect are named.
 * - An action that declares no capability has the effect `undeclared`, whatever a context says of capabilities. If
 *   the context sets `undeclared` too, the stronger of the two holds.
 */
import type { PermissionRules } from './permissions.ts';
import { findRule, type PolicyEffect, type PolicyRules, strongerEffect } from './policy-rule.ts';

export interface CapabilityPolicy {
  readonly rules: PolicyRules;
  /** For capabilities that no rule covers. */
  readonly default: PolicyEffect;
  /** For actions that declare no capability. */
  readonly undeclared: PolicyEffect;
}

/** Where an effect comes from; both sources if they agree. */
export type RuleSource =
  | 'policy'
  | 'policy_default'
  | 'context'
  | 'context_default'
  | `${'policy' | 'policy_default'}+${'context' | 'context_default'}`;

export interface PolicyDecision {
  readonly effect: PolicyEffect;
  readonly reason: string;
  /** The capabilities that have this effect, in alphabetical order. */
  readonly matchedCapabilities: readonly string[];
  readonly capabilities: Readonly<Record<string, PolicyEffect>>;
  readonly sources: Readonly<Record<string, RuleSource>>;
  /** What a person has to confirm because the tool requires it. */
  readonly confirm?: string;
  /** Set if the runtime has confirmed it, as `guards.confirm` says; absent if a person is asked. */
  readonly confirmedBy?: 'auto';
  /** Name of the author's policy that has decided, in addition to the rules. */
  readonly policy?: string;
}

export function decide(
  policy: CapabilityPolicy,
  capabilities: readonly string[],
  context?: PermissionRules,
): PolicyDecision {
  const names = [...new Set(capabilities)].sort();
  if (names.length === 0) return decideUndeclared(policy, context);
  const found = names.map((name) => [name, decideOne(policy, name, context)] as const);
  const effect = found.map(([, one]) => one.effect).reduce(strongerEffect);
  const matchedCapabilities = found.filter(([, one]) => one.effect === effect).map(([name]) => name);
  return {
    effect,
    reason: `${REASONS[effect]}: ${matchedCapabilities.join(', ')}`,
    matchedCapabilities,
    capabilities: Object.fromEntries(found.map(([name, one]) => [name, one.effect])),
    sources: Object.fromEntries(found.map(([name, one]) => [name, one.source])),
  };
}

const REASONS: Readonly<Record<PolicyEffect, string>> = {
  allow: 'The policy allows',
  require_approval: 'The policy requires approval for',
  deny: 'The policy denies',
};

function decideUndeclared(policy: CapabilityPolicy, context?: PermissionRules): PolicyDecision {
  const undeclared = strongerEffect(policy.undeclared, context?.undeclared ?? 'allow');
  const reason = `${REASONS[undeclared]}: an action without declared capabilities`;
  return { effect: undeclared, reason, matchedCapabilities: [], capabilities: {}, sources: {} };
}

interface Sourced {
  readonly effect: PolicyEffect;
  readonly source: RuleSource;
}

/** Evaluates both the policy and the context. */
function decideOne(policy: CapabilityPolicy, capability: string, context?: PermissionRules): Sourced {
  const rule = findRule(policy.rules, capability);
  const own = rule ? 'policy' : 'policy_default';
  const ownEffect = rule ?? policy.default;
  const contextRule = context && findRule(context.rules, capability);
  const contextEffect = contextRule ?? context?.default;
  if (contextEffect === undefined) return { effect: ownEffect, source: own };
  const other = contextRule ? 'context' : 'context_default';
  if (contextEffect === ownEffect) return { effect: ownEffect, source: `${own}+${other}` };
  const effect = strongerEffect(ownEffect, contextEffect);
  return { effect, source: effect === ownEffect ? own : other };
}
