/** The policy of an agent and the capabilities of a tool, as they are written. */
import { describe, expect, it } from '@jest/globals';
import { asWritten } from '../../src/core/author/written-definition.ts';
import type { AgentInput } from '../../src/definitions/index.ts';
import { agent, problemsOf, tool } from './sample.ts';

const problems = (policy: unknown) => problemsOf(() => agent({ policy: policy as AgentInput['policy'] }));

describe('the policy of an agent', () => {
  it('is written as rules, or as an object with them', () => {
    const rules = { 'records.*': 'require_approval', 'records.read': 'allow', '*': 'deny' } as const;
    const whole = { rules, default: 'allow', undeclared: 'allow', approvals: 'wait', onDenied: 'continue' };
    expect(agent({ policy: rules }).policy).toEqual(whole);
    expect(agent({ policy: { rules } }).policy).toEqual(whole);
  });

  it('judges undeclared actions by `default` unless it sets `undeclared`', () => {
    expect(agent({ policy: { default: 'deny' } }).policy).toEqual({
      rules: {},
      default: 'deny',
      undeclared: 'deny',
      approvals: 'wait',
      onDenied: 'continue',
    });
    expect(agent({ policy: { default: 'deny', undeclared: 'allow' } }).policy?.undeclared).toBe('allow');
  });

  it('is visible in its parsed form to code that loads the agent', () => {
    const definition = agent({ policy: { 'records.*': 'deny' } });
    expect(asWritten(definition).policy).toEqual(definition.policy);
  });

  it('is refused if a rule has an invalid capability or effect', () => {
    expect(problems({ 'records.*.write': 'deny' })).toEqual([
      expect.stringContaining('policy.rules.records.*.write: is not a valid rule name'),
    ]);
    expect(problems({ records: 'refuse' })).toEqual([
      expect.stringContaining("policy.rules.records: must be one of 'allow', 'require_approval', 'deny'"),
    ]);
    expect(problems({ default: 'deny', fallback: 'allow' })).toEqual([
      expect.stringContaining('policy.fallback: is not a field'),
    ]);
  });
});

describe('the capabilities of a tool', () => {
  it('are names with dots', () => {
    expect(tool({ capabilities: ['records.write'] }).capabilities).toEqual(['records.write']);
    expect(problemsOf(() => tool({ capabilities: ['records.*'] }))).toEqual([
      expect.stringContaining('capabilities[0]: must be a capability'),
    ]);
  });
});
