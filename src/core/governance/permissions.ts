/**
 * Permissions that travel with a run: rules over capabilities, given by the caller that starts it. Either flat, as in
 * `{ 'records.write': 'deny' }`, or
 * `{ capabilities: { … }, default: 'deny', undeclared: 'deny', approvals: 'refuse' }`.
 * A rule is an effect, true (allow) or false (deny), or an object with an `effect` and further fields for its readers;
 * an object without an effect allows.
 * - Joining two sets keeps the stronger effect of both for each capability: it narrows, never widens.
 */
import { isRecord } from '../value/record.ts';
import { findRule, isRuleName, type PolicyEffect, type PolicyRules, strongerEffect } from './policy-rule.ts';

export type Permissions = Readonly<Record<string, unknown>>;

/** A set of permissions, by capability; without a default it says nothing about what its rules do not cover. */
export interface PermissionRules {
  readonly rules: PolicyRules;
  readonly default?: PolicyEffect;
  /** For actions that declare no capability; if absent, the set says nothing about them. */
  readonly undeclared?: PolicyEffect;
  /** An action that needs an approval is refused at once: nobody is asked. */
  readonly approvals?: 'refuse';
}

const EFFECT_ALIASES: Readonly<Record<string, PolicyEffect>> = {
  allow: 'allow',
  allowed: 'allow',
  deny: 'deny',
  denied: 'deny',
  require_approval: 'require_approval',
  approval: 'require_approval',
  approve: 'require_approval',
  ask: 'require_approval',
};

/** Undefined if it is not a rule. */
export function toEffect(rule: unknown): PolicyEffect | undefined {
  if (typeof rule === 'boolean') return rule ? 'allow' : 'deny';
  if (typeof rule === 'string') {
    const word = rule.toLowerCase().replaceAll('-', '_');
    return Object.hasOwn(EFFECT_ALIASES, word) ? EFFECT_ALIASES[word] : undefined;
  }
  if (!isRecord(rule)) return undefined;
  const named = rule.effect ?? rule.decision ?? rule.mode;
  return named === undefined ? 'allow' : toEffect(named);
}

interface Entries {
  readonly rules: Readonly<Record<string, unknown>>;
  readonly fallback: unknown;
  readonly undeclared?: unknown;
  readonly approvals?: unknown;
  /** Path of the rules, for error messages. */
  readonly path: string;
}

function entriesOf(permissions: Permissions): Entries {
  if (isRecord(permissions.capabilities)) {
    const { capabilities: rules, default: fallback, undeclared, approvals } = permissions;
    return { rules, fallback, undeclared, approvals, path: 'capabilities.' };
  }
  const { default: fallback, ...rules } = permissions;
  return { rules, fallback, path: '' };
}

/** Returns the first problem, with its place; undefined if there is none. */
export function findPermissionProblem(permissions: Permissions): string | undefined {
  const { rules, fallback, undeclared, approvals, path } = entriesOf(permissions);
  const words = '"allow", "require_approval" or "deny"';
  if (undeclared !== undefined && toEffect(undeclared) === undefined) return `"undeclared" must be ${words}`;
  if (fallback !== undefined && toEffect(fallback) === undefined) return `"default" must be ${words}`;
  if (approvals !== undefined && approvals !== 'wait' && approvals !== 'refuse')
    return '"approvals" must be "wait" or "refuse"';
  for (const [name, rule] of Object.entries(rules)) {
    if (!isRuleName(name)) return `"${path}${name}" is not a capability name, "prefix.*" or "*"`;
    if (toEffect(rule) === undefined) return `"${path}${name}" must be ${words}`;
  }
  return undefined;
}

/** A rule that cannot be read denies: it was meant to restrict. */
export function readPermissions(permissions: Permissions): PermissionRules {
  const { rules, fallback, undeclared, approvals } = entriesOf(permissions);
  const effects = Object.entries(rules).map(([name, rule]) => [name, toEffect(rule) ?? 'deny'] as const);
  return {
    rules: Object.fromEntries(effects),
    ...(fallback === undefined ? {} : { default: toEffect(fallback) ?? 'deny' }),
    ...(undeclared === undefined ? {} : { undeclared: toEffect(undeclared) ?? 'deny' }),
    ...(approvals === undefined || approvals === 'wait' ? {} : { approvals: 'refuse' }),
  };
}

/** Joins two sets. If one of them is empty, the other is returned as it was given. */
export function joinPermissions(one: Permissions, other: Permissions): Permissions {
  if (isEmpty(other)) return one;
  if (isEmpty(one)) return other;
  const sets = [readPermissions(one), readPermissions(other)];
  const given = [entriesOf(one).rules, entriesOf(other).rules];
  const names = [...new Set(sets.flatMap(({ rules }) => Object.keys(rules)))].sort();
  const capabilities = Object.fromEntries(
    names.map((name) => {
      const effect = strongestEffect(sets.map((set) => findRule(set.rules, name) ?? set.default));
      // Further fields of a rule, such as paths, are kept with its effect.
      const scoped = given.findLast((rules) => isRecord(rules[name]) && toEffect(rules[name]) === effect);
      return [name, scoped?.[name] ?? effect];
    }),
  );
  const fallback = strongestEffect(sets.map((set) => set.default));
  const undeclared = strongestEffect(sets.map((set) => set.undeclared));
  return {
    capabilities,
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(undeclared === undefined ? {} : { undeclared }),
    ...(sets.some(({ approvals }) => approvals === 'refuse') ? { approvals: 'refuse' } : {}),
  };
}

function isEmpty(permissions: Permissions): boolean {
  return Object.keys(permissions).length === 0;
}

function strongestEffect(effects: readonly (PolicyEffect | undefined)[]): PolicyEffect | undefined {
  return effects
    .filter((effect) => effect !== undefined)
    .reduce<PolicyEffect | undefined>(
      (sum, effect) => (sum === undefined ? effect : strongerEffect(sum, effect)),
      undefined,
    );
}
