/** Variables (definitions §3, §16): the order of sources, types, what is required. */
import { describe, expect, it } from '@jest/globals';
import type { ToolDefinition } from '../../src/core/author/registry.ts';
import {
  declaredTypes,
  listSecrets,
  resolveVariable,
  type StoredVariable,
} from '../../src/core/project/env.ts';
import {
  isScoped,
  listRequirements,
  listScoped,
  listScopedRequirements,
} from '../../src/core/project/env-requirement.ts';
import {
  type AgentInput,
  defineAgent,
  defineModel,
  definePrompt,
  defineTool,
  type PromptInput,
  registryFrom,
} from '../../src/definitions/index.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';

type ToolFields = Partial<Parameters<typeof defineTool>[0]>;

interface Project {
  readonly agent?: Partial<AgentInput>;
  readonly prompt?: Partial<PromptInput>;
  readonly tools?: Readonly<Record<string, ToolFields>>;
  readonly prompts?: Readonly<Record<string, Partial<PromptInput>>>;
  readonly agents?: Readonly<Record<string, Partial<AgentInput>>>;
}

function project({ agent, prompt, tools = {}, prompts = {}, agents = {} }: Project) {
  const model = scriptedModel([says('x')]);
  const aPrompt = (name: string, fields: Partial<PromptInput>) =>
    definePrompt({ name, toolDescription: name, prompt: 'Help.', model: 'm1', ...fields });
  const aTool = ([name, fields]: [string, ToolFields]): [string, ToolDefinition] => [
    name,
    defineTool({ description: name, execute: () => ({ status: 'success' }), ...fields } as never),
  ];
  return registryFrom({
    agents: [
      defineAgent({ name: 'helper', sideA: { prompt: 'main' }, ...agent } as AgentInput),
      ...Object.entries(agents).map(([name, fields]) =>
        defineAgent({ name, sideA: { prompt: 'main' }, ...fields } as AgentInput),
      ),
    ],
    prompts: [
      aPrompt('main', prompt ?? {}),
      ...Object.entries(prompts).map(([name, fields]) => aPrompt(name, fields)),
    ],
    models: [defineModel({ name: 'm1', provider: model.provider, model: 'm' })],
    tools: Object.fromEntries(Object.entries(tools).map(aTool)),
  });
}

const SOURCES = ['thread', 'user', 'instance', 'agent', 'entry', 'prompt'] as const;
type Source = (typeof SOURCES)[number];

/** A place where the named sources have a value for A: their own name, unless `value` makes another. */
function place(sources: readonly Source[], tool: string | undefined, value = (source: string) => source) {
  const env = (source: Source): Record<string, string> =>
    sources.includes(source) ? { A: value(source) } : {};
  const registry = project({
    agent: { env: env('agent') },
    prompt: { env: env('prompt'), tools: [{ name: 'pay', env: env('entry') }, 'look'] },
    tools: { pay: {}, look: {} },
  });
  const stored = (['thread', 'user', 'instance'] as const).flatMap((scope): StoredVariable[] =>
    sources.includes(scope) ? [{ scope, name: 'A', type: 'text', value: value(scope) }] : [],
  );
  return {
    stored,
    types: declaredTypes(registry),
    agent: registry.agents.get('helper'),
    prompt: registry.prompts.get('main'),
    tool,
  };
}

describe('[definitions 16] the precedence of sources', () => {
  const subsets = Array.from({ length: 2 ** SOURCES.length }, (_, bits) =>
    SOURCES.filter((_source, index) => bits & (1 << index)),
  );

  it.each(subsets.map((sources) => [sources.join(', ') || 'nobody', sources] as const))(
    'when a value comes from %s',
    (_names, sources) => {
      expect(resolveVariable('A', place(sources, 'pay'))?.value).toBe(sources[0]);
      // A value in a tool's entry counts for that tool only.
      const others = sources.filter((source) => source !== 'entry');
      expect(resolveVariable('A', place(sources, 'look'))?.value).toBe(others[0]);
      expect(resolveVariable('A', place(sources, undefined))?.value).toBe(others[0]);
      // An empty string is a value.
      const empty = resolveVariable(
        'A',
        place(sources, 'pay', () => ''),
      );
      expect(empty?.value).toBe(sources.length === 0 ? undefined : '');
    },
  );

  it('has no variable named like a property of Object.prototype', () => {
    for (const name of ['toString', 'constructor', '__proto__', 'hasOwnProperty']) {
      expect(resolveVariable(name, place([], 'pay'))).toBeUndefined();
    }
  });
});

describe('[definitions 16] the type of a value', () => {
  const declare = (type: 'text' | 'secret') => ({ variables: [{ name: 'A', type }] });

  it.each<[string, Project, string]>([
    ['of an undeclared variable is secret', {}, 'secret'],
    ['of the agent', { agent: declare('text') }, 'text'],
    ['of the prompt', { prompt: declare('text') }, 'text'],
    ['of a tool', { tools: { pay: declare('text') } }, 'text'],
    ['of two that differ is secret', { agent: declare('text'), tools: { pay: declare('secret') } }, 'secret'],
    ['and the other way round too', { agent: declare('secret'), tools: { pay: declare('text') } }, 'secret'],
    ['of a prompt that shows it is text', { prompt: { prompt: [{ type: 'env', property: 'A' }] } }, 'text'],
  ])('is the declared one for a value in a definition: %s', (_what, given, expected) => {
    const registry = project({ ...given, agent: { env: { A: 'value' }, ...given.agent } });
    const types = declaredTypes(registry);
    const agent = registry.agents.get('helper');
    expect(resolveVariable('A', { stored: [], types, agent })?.type).toBe(expected);
    expect(listSecrets({ stored: [], types, agent })).toHaveLength(expected === 'secret' ? 1 : 0);
  });

  it('is the stored one for a stored value, whatever is declared', () => {
    const types = declaredTypes(project({ agent: declare('text') }));
    const stored: StoredVariable[] = [{ scope: 'thread', name: 'A', type: 'secret', value: 'x' }];
    expect(resolveVariable('A', { stored, types })?.type).toBe('secret');
  });

  it('considers shadowed values too: a value that shadows a secret is secret', () => {
    const stored: StoredVariable[] = [
      { scope: 'thread', name: 'A', type: 'text', value: 'shown' },
      { scope: 'instance', name: 'A', type: 'secret', value: 'hidden' },
    ];
    expect(listSecrets({ stored, types: new Map() }).map(({ value }) => value)).toEqual(['hidden']);
  });
});

describe('[definitions 3] required variables', () => {
  const needs = (...names: string[]) => ({ variables: names.map((name) => ({ name, required: true })) });
  const required = (given: Project) =>
    listRequirements(project(given), 'helper').map(({ name, by }) => `${name}: ${by}`);

  it('are those of agent, prompt, included prompts, tools, tools they use, prompts as tools, and agents behind them', () => {
    expect(
      required({
        agent: needs('OF_AGENT', 'SHARED'),
        prompt: {
          ...needs('OF_PROMPT'),
          prompt: [{ type: 'include', prompt: 'part' }],
          tools: ['pay', 'sub', 'other'],
        },
        prompts: {
          part: needs('OF_PART'),
          sub: { ...needs('OF_SUB'), tools: ['deep'] },
          far: needs('OF_FAR'),
        },
        tools: {
          pay: { ...needs('OF_TOOL', 'SHARED'), uses: ['used'] },
          used: needs('OF_USED'),
          deep: needs('OF_DEEP'),
          idle: needs('OF_IDLE'),
        },
        agents: { other: { ...needs('OF_OTHER'), sideA: { prompt: 'far' } }, stranger: needs('OF_STRANGER') },
      }),
    ).toEqual([
      'OF_AGENT: the agent "helper"',
      'SHARED: the agent "helper"',
      'OF_PROMPT: the prompt "main"',
      'OF_PART: the prompt "part"',
      'OF_TOOL: the tool "pay"',
      'OF_USED: the tool "used"',
      'OF_SUB: the prompt "sub"',
      'OF_DEEP: the tool "deep"',
      'OF_OTHER: the agent "other"',
      'OF_FAR: the prompt "far"',
    ]);
  });

  it('are satisfied by a definition’s value if it applies at that place', () => {
    const pay = { tools: { pay: needs('A'), look: needs('B') } };
    expect(required({ ...pay, agent: { env: { A: '' } }, prompt: { tools: ['pay'] } })).toEqual([]);
    expect(required({ ...pay, prompt: { tools: ['pay'], env: { A: 'x' } } })).toEqual([]);
    expect(required({ ...pay, prompt: { tools: [{ name: 'pay', env: { A: 'x' } }] } })).toEqual([]);
    // Values in another tool's entry do not count.
    expect(
      required({ ...pay, prompt: { tools: [{ name: 'pay', env: { A: 'x', B: 'x' } }, 'look'] } }),
    ).toEqual(['B: the tool "look"']);
  });

  it('of a child that does not inherit are required of its creator', () => {
    const variables = [
      { name: 'OWN', required: true, scoped: true },
      { name: 'TAKEN', required: true },
    ];
    const child: Partial<AgentInput> = {
      type: 'dual_ai',
      sideB: { prompt: 'main' },
      maxSessionTurns: 2,
      exposeAsTool: true,
      toolDescription: 'child',
      variables,
    };
    const given: Project = { agents: { child }, prompt: { tools: ['child'] } };
    expect(required(given)).toEqual(['TAKEN: the agent "child"']);
    const registry = project(given);
    expect(isScoped(registry, 'child', 'OWN')).toBe(true);
    expect(isScoped(registry, 'child', 'TAKEN')).toBe(false);
    // The child scopes the variable; its parent's own thread still inherits it.
    expect(isScoped(registry, 'helper', 'OWN')).toBe(false);
  });

  it('are found in cyclic definitions, and none for an unknown agent', () => {
    const circle = project({
      prompt: { tools: ['again', 'helper', 'pay'] },
      prompts: { again: { tools: ['main', 'pay'] } },
      tools: { pay: { ...needs('A'), uses: ['pay'] } },
    });
    expect(listRequirements(circle, 'helper').map(({ name }) => name)).toEqual(['A']);
    expect(listRequirements(circle, 'nobody')).toEqual([]);
  });
});

describe('variables a thread does not inherit from its parent', () => {
  const scoped = (name: string, required = true) => ({ variables: [{ name, required, scoped: true }] });
  const dual = (prompt: string): Partial<AgentInput> => ({
    type: 'dual_ai',
    exposeAsTool: true,
    toolDescription: 'works',
    sideA: { prompt },
    sideB: { prompt: 'critic' },
    maxSessionTurns: 4,
  });
  const registry = project({
    prompt: { tools: ['child'] },
    agents: {
      child: { ...dual('desk'), ...scoped('OF_AGENT'), env: { KNOWN: 'here' } },
      deeper: { ...dual('desk'), ...scoped('OF_DEEPER') },
    },
    prompts: {
      desk: { tools: ['pay', 'consult', 'deeper'], ...scoped('OPTIONAL', false) },
      critic: scoped('OF_CRITIC'),
      consult: { tools: ['pay'], ...scoped('KNOWN') },
    },
    tools: {
      pay: {
        variables: [
          { name: 'OF_TOOL', required: true, scoped: true },
          { name: 'SHARED', required: true },
        ],
      },
    },
  });
  const found = (agent: string) =>
    listScopedRequirements(registry, agent).map(
      ({ name, by, provided }) => `${name}: ${by}${provided ? ', known' : ''}`,
    );

  it('[runtime 7.5] are found on both sides, in tools and sub-prompts, with their descriptions', () => {
    expect(found('child').sort()).toEqual([
      'KNOWN: the prompt "consult", known',
      'OF_AGENT: the agent "child"',
      'OF_CRITIC: the prompt "critic"',
      'OF_TOOL: the tool "pay"',
    ]);
  });

  it('[runtime 7.5] belong to the thread that needs them, not to its parent or child', () => {
    expect(found('helper')).toEqual([]);
    expect(found('deeper')).toContain('OF_DEEPER: the agent "deeper"');
    expect(found('nobody')).toEqual([]);
  });

  it('are refused from a parent, needed or not', () => {
    expect([...listScoped(registry, 'child')].sort()).toEqual([
      'KNOWN',
      'OF_AGENT',
      'OF_CRITIC',
      'OF_TOOL',
      'OPTIONAL',
    ]);
  });
});
