/** How a policy judges capabilities: the most specific rule of each set, then the strongest effect of all. */
import { describe, expect, it } from '@jest/globals';
import { delegatePermissions, findRules } from '../../../src/core/governance/agent-policy.ts';
import { type CapabilityPolicy, decide } from '../../../src/core/governance/capability-policy.ts';
import { findPermissionProblem, readPermissions } from '../../../src/core/governance/permissions.ts';
import { findRule, isRuleName } from '../../../src/core/governance/policy-rule.ts';

const policy = (given: Partial<CapabilityPolicy>): CapabilityPolicy => ({
  rules: {},
  default: 'allow',
  undeclared: 'allow',
  ...given,
});

describe('a rule', () => {
  it.each([
    ['records.read', 'allow', 'an exact rule stands against a wildcard'],
    ['records.write', 'deny', 'the wildcard holds below its name'],
    ['records.write.draft', 'require_approval', 'the longest prefix is the most specific'],
    ['records', 'deny', 'a wildcard does not cover its own name, and * covers all'],
    ['toString', 'deny', 'a name that every object has is no rule'],
  ])('%s → %s: %s', (capability, effect) => {
    const rules = {
      '*': 'deny',
      'records.*': 'deny',
      'records.read': 'allow',
      'records.write.*': 'require_approval',
    } as const;
    expect(findRule(rules, capability)).toBe(effect);
  });

  it.each(['*', 'a', 'a.b', 'a.*', 'mcp.server:1.tool-a'])('may have the name %s', (name) =>
    expect(isRuleName(name)).toBe(true),
  );
  it.each(['', '.', 'a.', '.a', 'a.*.b', '**', 'a b', 'a..b', '*.a'])('may not have the name "%s"', (name) =>
    expect(isRuleName(name)).toBe(false),
  );
});

describe('a decision', () => {
  it('[PL-05] is the strictest over all capabilities, and names those', () => {
    const rules = {
      'records.*': 'require_approval',
      'records.read': 'allow',
      'records.delete': 'deny',
    } as const;
    expect(decide(policy({ rules }), ['records.write', 'records.read', 'records.delete'])).toEqual({
      effect: 'deny',
      reason: 'The policy denies: records.delete',
      matchedCapabilities: ['records.delete'],
      capabilities: {
        'records.delete': 'deny',
        'records.read': 'allow',
        'records.write': 'require_approval',
      },
      sources: { 'records.delete': 'policy', 'records.read': 'policy', 'records.write': 'policy' },
    });
  });

  it('[PL-05] is narrowed by a context, never widened', () => {
    const own = policy({ rules: { 'records.write': 'require_approval', 'files.*': 'allow' } });
    const context = { rules: { 'records.*': 'allow', 'files.*': 'deny' } } as const;
    expect(decide(own, ['records.write'], context)).toMatchObject({
      effect: 'require_approval',
      sources: { 'records.write': 'policy' },
    });
    expect(decide(own, ['files.read'], context)).toMatchObject({
      effect: 'deny',
      sources: { 'files.read': 'context' },
    });
  });

  it('[PL-05] names both sources if they agree, and the default if it applies', () => {
    const own = policy({ rules: { a: 'deny' }, default: 'require_approval' });
    expect(decide(own, ['a', 'b'], { rules: { a: 'deny' } }).sources).toEqual({
      a: 'policy+context',
      b: 'policy_default',
    });
    expect(decide(own, ['b', 'c'], { rules: { b: 'deny' }, default: 'require_approval' }).sources).toEqual({
      b: 'context',
      c: 'policy_default+context_default',
    });
  });

  it('[PL-05] of an action without declared capabilities follows the rule for undeclared ones', () => {
    expect(decide(policy({ default: 'deny' }), [], { rules: {}, default: 'deny' }).effect).toBe('allow');
    expect(decide(policy({ undeclared: 'deny' }), [])).toMatchObject({
      effect: 'deny',
      matchedCapabilities: [],
    });
  });
});

describe('permissions delegated to a child', () => {
  const agent = { ...policy({}), approvals: 'wait', onDenied: 'continue' } as const;
  const judge = (handed: Readonly<Record<string, unknown>>, capabilities: string[]) =>
    decide(policy({ rules: { '*': 'allow' } }), capabilities, readPermissions(handed)).effect;

  it('[PL-06] are those of policy and run, and no descendant may exceed them', () => {
    const own = { ...agent, rules: { 'a.*': 'deny', 'a.b': 'allow' }, undeclared: 'deny' } as const;
    const handed = delegatePermissions(own, { 'c.*': 'require_approval', 'a.b': 'require_approval' });
    expect(judge(handed, ['a.x'])).toBe('deny');
    expect(judge(handed, ['a.b'])).toBe('require_approval');
    expect(judge(handed, ['c.d'])).toBe('require_approval');
    expect(judge(handed, ['e'])).toBe('allow');
    expect(judge(handed, [])).toBe('deny');
    // The same holds one generation further down.
    expect(judge(delegatePermissions({ ...agent, rules: { '*': 'allow' } }, handed), ['a.x'])).toBe('deny');
    expect(judge(delegatePermissions({ ...agent, rules: { '*': 'allow' } }, handed), [])).toBe('deny');
  });

  it('[PL-07] forbid approvals below a thread where approvals are refused, at any generation', () => {
    const approvalsOf = (handed: Readonly<Record<string, unknown>>) =>
      findRules(agent, { permissions: handed })?.policy.approvals;
    const refusing = delegatePermissions({ ...agent, approvals: 'refuse' }, {});
    expect(approvalsOf(refusing)).toBe('refuse');
    expect(approvalsOf(delegatePermissions(agent, refusing))).toBe('refuse');
    expect(approvalsOf(delegatePermissions({ ...agent, approvals: 'refuse' }, { 'a.b': 'deny' }))).toBe(
      'refuse',
    );
    expect(approvalsOf(delegatePermissions(agent, {}))).toBe('wait');
    expect(findRules(undefined, { permissions: refusing })?.policy.approvals).toBe('refuse');
    expect(findPermissionProblem({ capabilities: {}, approvals: 'never' })).toContain('"approvals"');
  });

  it('are those of the run if the agent has no policy', () => {
    const permissions = { 'a.*': 'deny' };
    expect(delegatePermissions(undefined, permissions)).toBe(permissions);
  });

  it('deny provider tools that no rule of the policy allows', () => {
    expect(judge(delegatePermissions(agent, {}), ['provider.search'])).toBe('deny');
    const allowed = { ...agent, rules: { 'provider.search': 'allow' } } as const;
    expect(judge(delegatePermissions(allowed, {}), ['provider.search'])).toBe('allow');
    expect(judge(delegatePermissions(allowed, {}), ['provider.other'])).toBe('deny');
  });
});
