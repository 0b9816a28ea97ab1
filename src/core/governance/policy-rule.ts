/**
 * Rules for what code may do, by the names of capabilities; the effects are allow, require_approval and deny.
 * - A set decides by its most specific rule: an exact name, else the longest `prefix.*`, else `*`. So an exact
 *   `allow` overrides a `deny` for a whole name space.
 * - `records.*` covers `records.write` and `records.write.draft`, but not `records` itself.
 */

/** From the weakest to the strongest. */
export const POLICY_EFFECTS = ['allow', 'require_approval', 'deny'] as const;
export type PolicyEffect = (typeof POLICY_EFFECTS)[number];

export type PolicyRules = Readonly<Record<string, PolicyEffect>>;

export const ANY_CAPABILITY = '*';
const NAMESPACE = '.*';

/** One or more parts of letters, digits, `_`, `-` and `:`, with dots between them. */
export const CAPABILITY = /^[\w:-]+(\.[\w:-]+)*$/;

/** True if a rule may have this name: a capability, `prefix.*`, or `*`. */
export function isRuleName(name: string): boolean {
  if (name === ANY_CAPABILITY) return true;
  return CAPABILITY.test(name.endsWith(NAMESPACE) ? name.slice(0, -NAMESPACE.length) : name);
}

/** Returns what the rules say of a capability; undefined if none covers it. */
export function findRule<Value>(
  rules: Readonly<Record<string, Value>>,
  capability: string,
): Value | undefined {
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

/** Returns the stronger of two effects. */
export function strongerEffect(one: PolicyEffect, other: PolicyEffect): PolicyEffect {
  return POLICY_EFFECTS.indexOf(one) >= POLICY_EFFECTS.indexOf(other) ? one : other;
}
