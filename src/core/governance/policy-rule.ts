/**
 * Rules of what code may do, by the names of capabilities (seed of the words: allow, require_approval, deny).
 * R1. One set decides by its most specific rule: an exact name, else the longest `prefix.*`, else `*`. So an exact `allow` stands
 *     against a `deny` for a whole name space.
 * R2. `records.*` covers `records.write` and `records.write.draft`, and not `records` itself.
 */

/** From the mildest to the strongest. */
export const POLICY_EFFECTS = ['allow', 'require_approval', 'deny'] as const;
export type PolicyEffect = (typeof POLICY_EFFECTS)[number];

export type PolicyRules = Readonly<Record<string, PolicyEffect>>;

export const ANY_CAPABILITY = '*';
const NAMESPACE = '.*';

/** One or more parts of letters, digits, `_`, `-` and `:`, with dots between them. */
export const CAPABILITY = /^[\w:-]+(\.[\w:-]+)*$/;

/** Whether a rule may bear this name: a capability, `prefix.*`, or `*`. */
export function isRuleName(name: string): boolean {
  if (name === ANY_CAPABILITY) return true;
  return CAPABILITY.test(name.endsWith(NAMESPACE) ? name.slice(0, -NAMESPACE.length) : name);
}

/** R1, R2: what the set says of a capability; undefined where no rule of it does. */
export function findRule(rules: PolicyRules, capability: string): PolicyEffect | undefined {
  for (const name of namesBySpecificity(capability)) {
    if (Object.hasOwn(rules, name)) return rules[name];
  }
  return undefined;
}

/** `a.b.c` → `a.b.c`, `a.b.*`, `a.*`, `*`. */
function* namesBySpecificity(capability: string): Generator<string> {
  yield capability;
  for (let dot = capability.lastIndexOf('.'); dot > 0; dot = capability.lastIndexOf('.', dot - 1)) {
    yield capability.slice(0, dot) + NAMESPACE;
  }
  yield ANY_CAPABILITY;
}

/** The stronger of two. */
export function stronger(one: PolicyEffect, other: PolicyEffect): PolicyEffect {
  return POLICY_EFFECTS.indexOf(one) >= POLICY_EFFECTS.indexOf(other) ? one : other;
}
