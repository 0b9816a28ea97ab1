/**
 * Combines the decision of the rules with the verdict of a policy that an author has written.
 * - A rule of the agent or of the context is a minimum: an author's policy strengthens it, and never weakens it.
 * - If no rule applies, the author's policy decides, also against the default.
 * - A verdict that cannot be read denies.
 */
import { type CapabilityPolicy, decide, type PolicyDecision } from './capability-policy.ts';
import type { PermissionRules } from './permissions.ts';
import { POLICY_EFFECTS, type PolicyEffect, strongerEffect } from './policy-rule.ts';

export interface OwnVerdict {
  readonly effect: PolicyEffect;
  readonly reason?: string;
}

const REASON_CHARS = 1000;

/** Returns the decision of the rules alone, without any default: the minimum for the verdict. */
export function decideByRules(
  policy: CapabilityPolicy,
  capabilities: readonly string[],
  context?: PermissionRules,
): PolicyDecision {
  return decide({ ...policy, default: 'allow', undeclared: 'allow' }, capabilities, context);
}

/** Undefined if the policy returned nothing; a denial if it returned no valid verdict. */
export function readVerdict(name: string, given: unknown): OwnVerdict | undefined {
  if (given === undefined || given === null) return undefined;
  const { effect, reason } = (typeof given === 'object' ? given : { effect: given }) as Record<
    string,
    unknown
  >;
  const known = POLICY_EFFECTS.find((each) => each === effect);
  if (!known) return { effect: 'deny', reason: `The policy "${name}" returned an invalid decision` };
  return typeof reason === 'string'
    ? { effect: known, reason: reason.slice(0, REASON_CHARS) }
    : { effect: known };
}

/** Returns the stronger of `floor`, the decision of the rules, and the verdict. */
export function joinVerdict(
  name: string,
  floor: PolicyDecision,
  capabilities: readonly string[],
  { effect: own, reason = `The policy "${name}" returned ${own}` }: OwnVerdict,
): PolicyDecision {
  const effect = strongerEffect(floor.effect, own);
  if (effect !== own) return { ...floor, policy: name };
  return { ...floor, effect, reason, matchedCapabilities: [...new Set(capabilities)].sort(), policy: name };
}
