/**
 * What a policy says of an action, from the capabilities that the action needs.
 * C1. The agent's policy and the rules that came with the context are asked apart, for each capability, and the stronger effect holds: a
 *     context narrows, never widens.
 * C2. The strongest effect over all capabilities is the action's; the capabilities that have it are named.
 * C3. An action that declares no capability has the effect `undeclared`, whatever a context says of capabilities; the stronger one where the
 *     context says something of `undeclared` too.
 */
import type { PermissionRules } from './permissions.ts';
import { findRule, type PolicyEffect, type PolicyRules, stronger } from './policy-rule.ts';

export interface CapabilityPolicy {
  readonly rules: PolicyRules;
  /** For capabilities that no rule covers. */
  readonly default: PolicyEffect;
  /** For actions that declare no capability. */
  readonly undeclared: PolicyEffect;
}

/** Where an effect comes from; of two that agree, both. */
export type RuleSource =
  | 'policy'
  | 'policy_default'
  | 'context'
  | 'context_default'
  | `${'policy' | 'policy_default'}+${'context' | 'context_default'}`;

export interface PolicyDecision {
  readonly effect: PolicyEffect;
  readonly reason: string;
  /** The capabilities whose effect it is, in alphabetical order. */
  readonly matchedCapabilities: readonly string[];
  readonly capabilities: Readonly<Record<string, PolicyEffect>>;
  readonly sources: Readonly<Record<string, RuleSource>>;
  /** What a person is to confirm, since the tool asks for that. */
  readonly confirm?: string;
  /** Who has confirmed that: the runtime, as `guards.confirm` says. Absent where a person is asked. */
  readonly confirmedBy?: 'auto';
  /** The policy of an author that has decided, beside the rules. */
  readonly policy?: string;
}

export function decide(
  policy: CapabilityPolicy,
  capabilities: readonly string[],
  context?: PermissionRules,
): PolicyDecision {
  const names = [...new Set(capabilities)].sort();
  // C3: nothing to match.
  if (names.length === 0) return decideUndeclared(policy, context);
  const found = names.map((name) => [name, decideOne(policy, name, context)] as const);
  const effect = found.map(([, one]) => one.effect).reduce(stronger);
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
  require_approval: 'The policy requires an approval for',
  deny: 'The policy denies',
};

function decideUndeclared(policy: CapabilityPolicy, context?: PermissionRules): PolicyDecision {
  const undeclared = stronger(policy.undeclared, context?.undeclared ?? 'allow');
  const reason = `${REASONS[undeclared]}: an action that declares no capability`;
  return { effect: undeclared, reason, matchedCapabilities: [], capabilities: {}, sources: {} };
}

interface Sourced {
  readonly effect: PolicyEffect;
  readonly source: RuleSource;
}

/** C1: both are asked. */
function decideOne(policy: CapabilityPolicy, capability: string, context?: PermissionRules): Sourced {
  const rule = findRule(policy.rules, capability);
  const own = rule ? 'policy' : 'policy_default';
  const ownEffect = rule ?? policy.default;
  const contextRule = context && findRule(context.rules, capability);
  const contextEffect = contextRule ?? context?.default;
  if (contextEffect === undefined) return { effect: ownEffect, source: own };
  const other = contextRule ? 'context' : 'context_default';
  if (contextEffect === ownEffect) return { effect: ownEffect, source: `${own}+${other}` };
  const effect = stronger(ownEffect, contextEffect);
  return { effect, source: effect === ownEffect ? own : other };
}
