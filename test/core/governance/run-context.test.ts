/** Contexts of runs: validated on arrival, and joined so that none is widened. */
import { describe, expect, it } from '@jest/globals';
import { readContextMetadata, writeContextMetadata } from '../../../src/core/governance/context-metadata.ts';
import { parseContext } from '../../../src/core/governance/given-context.ts';
import { joinPermissions, readPermissions } from '../../../src/core/governance/permissions.ts';
import { findRule, POLICY_EFFECTS, type PolicyEffect } from '../../../src/core/governance/policy-rule.ts';
import { childContext, contextOf, narrow } from '../../../src/core/governance/run-context.ts';
import { LIMITS } from '../../../src/core/value/limit.ts';

const PLACE = { executionId: 'e-1', rootId: 'root', agent: 'helper' };

describe('an incoming run context', () => {
  const refused: [what: unknown, why: string][] = [
    ['text', '"context" must be an object'],
    [[], '"context" must be an object'],
    [{ permission: {} }, '"context.permission" is not a field of a context'],
    [{ runId: '' }, '"context.runId" must be a string of 1 to 200 characters'],
    [{ traceId: 'x'.repeat(201) }, '"context.traceId" must be a string of 1 to 200 characters'],
    [{ sessionId: 'a\0b' }, '"context.sessionId" must be a string'],
    [{ agentChain: ['a', 7] }, '"context.agentChain" must be a list of at most 64 names of agents'],
    [
      { permissions: { 'records.write': 'maybe' } },
      '"records.write" must be "allow", "require_approval" or "deny"',
    ],
    [{ permissions: { capabilities: { 'a..b': 'deny' } } }, '"capabilities.a..b" is not a capability name'],
    [{ permissions: { default: 3 } }, '"default" must be'],
    [{ budget: { maxStep: 3 } }, '"context.budget" has an unknown limit "maxStep"; the limits are maxSteps'],
    [
      { budget: { maxSteps: -1 } },
      '"context.budget" has an invalid "maxSteps": it must be a number, 0 or more',
    ],
    [{ canceled: 'yes' }, '"context.canceled" must be true or false'],
    [{ metadata: { text: 'x'.repeat(LIMITS.contextBytes) } }, '"context" takes more than 8192 bytes'],
    [
      { metadata: JSON.parse('[['.repeat(30) + ']]'.repeat(30)) },
      '"context" is nested deeper than 32 levels',
    ],
  ];
  it.each(refused)('is refused with the name of its field: %j', (value, why) => {
    const parsed = parseContext(value);
    expect(parsed).toEqual({ ok: false, reason: expect.stringContaining(why) });
  });

  it('is accepted without its null fields', () => {
    expect(parseContext({ runId: 'r', traceId: null })).toEqual({ ok: true, context: { runId: 'r' } });
  });
});

describe('permissions', () => {
  it('are parsed from the documented words, and an unknown word denies', () => {
    const words = { a: 'Allowed', b: true, c: false, d: 'ask', e: 'require-approval', f: { paths: [] } };
    expect(readPermissions({ ...words, g: { mode: 'denied' }, h: 'perhaps', i: null })).toEqual({
      rules: {
        a: 'allow',
        b: 'allow',
        c: 'deny',
        d: 'require_approval',
        e: 'require_approval',
        f: 'allow',
        g: 'deny',
        h: 'deny',
        i: 'deny',
      },
    });
    expect(readPermissions({ capabilities: { a: 'allow' }, default: false, b: 'deny' })).toEqual({
      rules: { a: 'allow' },
      default: 'deny',
    });
  });

  it('that are joined give each capability the stricter of both rules', () => {
    const names = ['a', 'a.b', 'a.b.c', 'a.*', 'a.b.*', '*'];
    const asked = ['a', 'a.b', 'a.b.c', 'a.b.d', 'a.x', 'z'];
    const random = seeded(7);
    const some = (): Record<string, unknown> => ({
      ...Object.fromEntries(names.filter(() => random() < 0.5).map((name) => [name, effect()])),
      ...(random() < 0.3 ? { default: effect() } : {}),
    });
    const effect = () => POLICY_EFFECTS[Math.floor(random() * 3)] as PolicyEffect;
    const says = (permissions: Record<string, unknown>, name: string) => {
      const { rules, default: fallback } = readPermissions(permissions);
      return POLICY_EFFECTS.indexOf(findRule(rules, name) ?? fallback ?? 'allow');
    };
    for (let round = 0; round < 500; round++) {
      const [one, other] = [some(), some()];
      const joined = joinPermissions(one, other);
      for (const name of asked)
        expect([one, other, name, says(joined, name)]).toEqual([
          one,
          other,
          name,
          Math.max(says(one, name), says(other, name)),
        ]);
    }
  });

  it('keep the other fields of a rule', () => {
    const scoped = { 'fs.read': { paths: ['file:///a'] } };
    expect(joinPermissions(scoped, { 'fs.*': 'allow' })).toEqual({
      capabilities: { 'fs.read': { paths: ['file:///a'] }, 'fs.*': 'allow' },
    });
  });
});

describe('a context', () => {
  it('keeps the first name, the lower limit, the earlier warning, and a cancellation', () => {
    const first = { runId: 'r-1', budget: { maxSteps: 5, warnAt: 0.8 }, metadata: { a: 1 } };
    const then = {
      runId: 'r-2',
      traceId: 't',
      budget: { maxSteps: 9, maxCost: 1, warnAt: 0.5 },
      metadata: { a: 2, b: 3 },
    };
    expect(narrow(first, { ...then, canceled: true })).toEqual({
      runId: 'r-1',
      traceId: 't',
      budget: { maxSteps: 5, maxCost: 1, warnAt: 0.5 },
      metadata: { a: 1, b: 3 },
      canceled: true,
    });
  });

  it('[PL-01] reads back from the metadata it was written to', () => {
    const given = {
      runId: 'r',
      sessionId: 's',
      traceId: 't',
      workspaceUri: 'w',
      organizationId: 'o',
      parentRunId: 'p',
      agentChain: ['gateway', 'helper'],
      permissions: { 'a.*': 'deny' },
      budget: { maxLlmCalls: 4, maxRuntimeSeconds: 1.5 },
      canceled: true,
      cancelReason: 'enough',
      metadata: { mine: true },
    };
    const written = writeContextMetadata(contextOf(given, PLACE));
    expect(readContextMetadata(JSON.parse(JSON.stringify(written)))).toEqual(given);
    expect(written).toMatchObject({ canceled: true, cancel_reason: 'enough' });
  });

  it('[PL-02] is read from older names, and typed fields take precedence', () => {
    const metadata = {
      run_id: 'r',
      session_id: 'old',
      cancelled: true,
      cancellation_reason: 'why',
      budgets: { max_steps: '3' },
    };
    expect(
      readContextMetadata({ ...metadata, run_context: { session_id: 'typed', trace_id: null } }),
    ).toEqual({
      runId: 'r',
      sessionId: 'typed',
      canceled: true,
      cancelReason: 'why',
      budget: { maxSteps: 3 },
    });
    expect(readContextMetadata({ canceled: true, permissions: {} })).toBeNull();
    expect(readContextMetadata({ session_id: 7 })).toBeNull();
  });

  it('[PL-03] passes a child everything but its run id', () => {
    const context = contextOf({ runId: 'r', traceId: 't', agentChain: ['gateway'] }, PLACE);
    expect(contextOf(childContext(context), { ...PLACE, executionId: 'e-2', agent: 'child' })).toEqual({
      ...context,
      runId: 'e-2',
      parentRunId: 'r',
      agentChain: ['gateway', 'helper', 'child'],
    });
  });
});

/** A random number generator that returns the same numbers in each test run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
