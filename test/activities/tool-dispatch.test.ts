/** How the calls of a step are dispatched: what the workflow receives stays small, however many there are. */
import { describe, expect, it } from '@jest/globals';
import { toStepCalls } from '../../src/activities/tool/tool-dispatch.ts';
import { LIMITS } from '../../src/core/value/limit.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { promptProject } from '../support/prompt-project.ts';

const execute = async () => ({ status: 'success' as const });
const registry = promptProject({
  model: scriptedModel([]),
  main: {},
  prompts: { consult: {}, clerk_desk: {}, scout_desk: {} },
  agents: { clerk: {}, scout: { type: 'dual_ai', sideB: { prompt: 'clerk_desk' } } },
  tools: {
    once: defineTool({ description: 'once', execute }),
    quick: defineTool({ description: 'quick', quick: true, execute }),
  },
});

describe('the calls of a step', () => {
  it('are dispatched by the kind of definition that they name', () => {
    const { calls } = toStepCalls(registry, ['once', 'quick', 'consult', 'clerk', 'nobody']);
    expect(calls.map(({ mode }) => mode)).toEqual(['once', 'quick', 'prompt', 'quick', 'quick']);
  });

  it('are of children if they name a subagent or its lifecycle tools', () => {
    const { calls } = toStepCalls(registry, ['scout', 'subagent_create', 'subagent_message']);
    expect(calls.map(({ mode }) => mode)).toEqual(['child', 'child', 'child']);
    const own = {
      ...registry,
      tools: new Map([...registry.tools, ['subagent_create', registry.tools.get('once')]]),
    };
    expect(toStepCalls(own as typeof registry, ['subagent_create']).calls[0]?.mode).toBe('once');
  });

  it('include children beyond the named calls, and stay small', () => {
    const names = Array.from({ length: 500 }, (_, n) => (n % 2 === 0 ? 'subagent_create' : 'consult'));
    const told = toStepCalls(registry, names);
    expect(told.laterChildren).toEqual(Array.from({ length: 242 }, (_, n) => LIMITS.namedCalls + 2 * n));
    expect(JSON.stringify(told).length).toBeLessThan(LIMITS.activityResultBytes - 500);
  });

  it('are named while there is room; prompts among the others are listed by index', () => {
    const names = Array.from({ length: 300 }, (_, n) => (n % 2 === 0 ? 'consult' : 'x'.repeat(200)));
    const told = toStepCalls(registry, names);
    expect(told.callCount).toBe(300);
    expect(told.calls).toHaveLength(LIMITS.namedCalls);
    expect(told.laterPrompts).toEqual(
      Array.from({ length: LIMITS.laterPrompts }, (_, n) => LIMITS.namedCalls + 2 * n),
    );
    expect(JSON.stringify(told).length).toBeLessThan(LIMITS.activityResultBytes - 500);
  });

  it('have no prompt indexes if there are no more prompts', () => {
    const { laterPrompts } = toStepCalls(
      registry,
      Array.from({ length: 40 }, () => 'once'),
    );
    expect(laterPrompts).toBeUndefined();
  });
});
