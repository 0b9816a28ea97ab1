import { z } from 'zod';
import { findCallee } from '../../src/core/project/callee.ts';
import { buildRegistry, type RegistryInput, registryFrom } from '../../src/definitions/index.ts';
import { agent, model, problemsOf, project, prompt, provider, tool } from './sample.ts';

const problems = (parts: RegistryInput) => problemsOf(() => registryFrom(project(parts)));
const text = (name: string) => tool({ args: z.object({ [name]: z.string() }) });

const worker = (fields: object = {}) =>
  agent({
    name: 'worker',
    type: 'dual_ai',
    sideB: { prompt: 'talk' },
    maxSessionTurns: 4,
    exposeAsTool: true,
    toolDescription: 'Works.',
    ...fields,
  });

describe('[definitions 2.1] registry', () => {
  it('holds every definition under its name', () => {
    const registry = registryFrom(project({ tools: { search_web: tool() } }));
    expect([...registry.agents.keys()]).toEqual(['helper']);
    expect([...registry.prompts.keys()]).toEqual(['talk']);
    expect([...registry.models.keys()]).toEqual(['fast']);
    expect(registry.tools.get('search_web')).toMatchObject({ name: 'search_web', description: 'Does it.' });
  });

  it('throws one error with all problems', () => {
    const parts = {
      agents: [agent({ sideA: { prompt: 'tlk' } })],
      models: [model({ fallbacks: ['slow'] })],
    };
    expect(problems(parts)).toEqual([
      "agents.helper.sideA.prompt: names a prompt 'tlk', which does not exist. Did you mean 'talk'?",
      "models.fast.fallbacks[0]: names a model 'slow', which does not exist.",
    ]);
    expect(() => registryFrom(project(parts))).toThrow(
      expect.objectContaining({ code: 'InvalidDefinitions' }),
    );
  });

  it('refuses objects not made by a define function', () => {
    expect(problems({ agents: [{ ...agent() }] })).toEqual([
      'agents.helper: was not created by a define… function',
    ]);
  });

  it('accepts references to broken definitions, which are reported elsewhere', () => {
    const sourced = [
      { file: 'agents/agents/a.ts', definition: agent() },
      { file: 'agents/prompts/b.ts', definition: prompt({ name: 'other' }) },
    ];
    expect(buildRegistry(sourced, new Set(['talk', 'fast'])).problems).toEqual([]);
  });
});

describe('[definitions 2.1] names', () => {
  it.each([
    ['two prompts', { prompts: [prompt(), prompt()] }, 'prompts.talk.name'],
    ['a prompt and a tool', { tools: { talk: tool() } }, 'tools.talk'],
    ['an agent and a tool', { tools: { helper: tool() } }, 'tools.helper'],
    ['two models', { models: [model(), model()] }, 'models.fast.name'],
  ])('belong to one definition: not to %s', (_title, parts, field) => {
    expect(problems(parts)).toEqual([expect.stringContaining(`${field}: '`)]);
    expect(problems(parts)[0]).toContain('is already the name of the');
  });

  it('may be shared by an agent and a prompt; a tools entry then means the agent that declares itself a tool', () => {
    const agents = [worker({ name: 'talk' })];
    const prompts = [prompt(), prompt({ name: 'lead', tools: [{ name: 'talk', blocking: false }] })];
    const sourced = [...agents, ...prompts, model()].map((definition) => ({ file: 'x.ts', definition }));
    const { registry, problems: found, warnings } = buildRegistry(sourced);
    expect(found).toEqual([]);
    expect(warnings).toMatchObject([
      { message: expect.stringMatching(/^means the agent 'talk', which sets exposeAsTool/) },
    ]);
    expect(findCallee(registry, 'talk')?.kind).toBe('agent');
  });

  it('may be shared by an agent and a prompt; a tools entry otherwise means the prompt, with a warning', () => {
    const agents = [agent({ name: 'talk' })];
    expect(problems({ agents })).toEqual([]);
    const prompts = [prompt(), prompt({ name: 'lead', tools: ['talk'] })];
    const sourced = [...agents, ...prompts, model()].map((definition) => ({ file: 'x.ts', definition }));
    const { registry, ...found } = buildRegistry(sourced);
    expect(found).toEqual({
      problems: [],
      warnings: [
        {
          file: 'x.ts',
          field: 'tools[0].name',
          message:
            "means the prompt 'talk', and not the agent of that name: to call the agent, set its exposeAsTool",
        },
      ],
    });
    expect([registry.agents.has('talk'), registry.prompts.has('talk')]).toEqual([true, true]);
  });

  it('of models are separate from the names of callables', () => {
    expect(problems({ models: [model(), model({ name: 'talk' })] })).toEqual([]);
  });

  it.each(['Search', 'search-web', '_search', 'search_', 's', '1st'])(
    'of tools are snake_case: not %s',
    (name) => {
      expect(problems({ tools: { [name]: tool() } })).toEqual([expect.stringContaining('is not snake_case')]);
    },
  );

  it('of tools have at most 64 characters, which is what every provider accepts', () => {
    expect(problems({ tools: { ['a'.repeat(64)]: tool() } })).toEqual([]);
    expect(problems({ tools: { ['a'.repeat(65)]: tool() } })).toEqual([
      expect.stringContaining('has 65 characters, and providers accept at most 64'),
    ]);
  });

  it('of agents and prompts should be snake_case', () => {
    const { warnings, problems: found } = buildRegistry([
      { file: 'a.ts', definition: agent({ name: 'My Agent', sideA: { prompt: 'talk' } }) },
      { file: 'b.ts', definition: prompt() },
      { file: 'c.ts', definition: model() },
    ]);
    expect(found).toEqual([]);
    expect(warnings).toEqual([
      { file: 'a.ts', field: 'name', message: expect.stringContaining('snake_case is recommended') },
    ]);
  });
});

describe('[definitions 7] references of an agent', () => {
  const withSide = (fields: object, promptFields: object = { tools: ['finish'] }): RegistryInput => ({
    agents: [agent({ sideA: { prompt: 'talk', ...fields } })],
    prompts: [prompt(promptFields)],
    tools: { finish: text('answer') },
  });

  it.each<[string, object, string[]]>([
    ['a stop tool that exists', { stopTool: 'finish', stopToolResponseProperty: 'answer' }, []],
    [
      'a stop tool that does not',
      { stopTool: 'finsh' },
      ["stopTool: names a tool 'finsh', which does not exist. Did you mean 'finish'?"],
    ],
    [
      'an argument that the stop tool lacks',
      { stopTool: 'finish', stopToolResponseProperty: 'anser' },
      [
        "stopToolResponseProperty: names the argument 'anser', but the tool 'finish' takes 'answer'. Did you mean 'answer'?",
      ],
    ],
    [
      'a session tool that does not exist',
      { sessionStop: 'end' },
      ["sessionStop.name: names a tool 'end', which does not exist."],
    ],
    [
      'arguments that a session tool lacks',
      { sessionFail: { name: 'finish', messageProperty: 'answer', attachmentsProperty: 'files' } },
      ["sessionFail.attachmentsProperty: names the argument 'files', but the tool 'finish' takes 'answer'."],
    ],
  ])('are checked: %s', (_title, fields, expected) => {
    expect(problems(withSide(fields))).toEqual(expected.map((each) => `agents.helper.sideA.${each}`));
  });

  it('are checked on side B of a dual_ai agent', () => {
    expect(problems({ agents: [worker({ sideB: { prompt: 'nobody' } })] })).toEqual([
      "agents.worker.sideB.prompt: names a prompt 'nobody', which does not exist.",
    ]);
  });

  it('warn when the model of the side cannot call the tool', () => {
    const { tools, ...parts } = withSide({ sessionStop: 'finish' }, {});
    const registry = registryFrom(project({ ...parts, tools }));
    const definitions = [
      ...registry.agents.values(),
      ...registry.prompts.values(),
      ...registry.models.values(),
    ];
    const all = [...definitions, ...registry.tools.values()];
    expect(buildRegistry(all.map((definition) => ({ file: 'x', definition }))).warnings).toEqual([
      {
        file: 'x',
        field: 'sideA.sessionStop.name',
        message: expect.stringContaining("not among the tools of the prompt 'talk'"),
      },
    ]);
  });
});

describe('[definitions 6] references of a prompt', () => {
  it('to its model must resolve', () => {
    expect(problems({ prompts: [prompt({ model: 'fst' })] })).toEqual([
      "prompts.talk.model: names a model 'fst', which does not exist. Did you mean 'fast'?",
    ]);
  });

  it('to included prompts must resolve', () => {
    expect(problems({ prompts: [prompt({ prompt: [{ type: 'include', prompt: 'rules' }] })] })).toEqual([
      "prompts.talk.prompt[0].prompt: names a prompt 'rules', which does not exist.",
    ]);
  });

  it('must not include in a cycle, which is reported once', () => {
    const including = (name: string, included: string) =>
      prompt({ name, prompt: [{ type: 'include', prompt: included }] });
    const prompts = [including('talk', 'rules'), including('rules', 'tone'), including('tone', 'rules')];
    expect(problems({ prompts })).toEqual(['prompts.rules.prompt: includes itself: rules → tone → rules']);
    expect(problems({ prompts: [including('talk', 'talk')] })).toEqual([
      'prompts.talk.prompt: includes itself: talk → talk',
    ]);
  });

  it('may include the same prompt twice', () => {
    const twice = [
      { type: 'include', prompt: 'rules' },
      { type: 'include', prompt: 'rules' },
    ];
    expect(problems({ prompts: [prompt({ prompt: twice }), prompt({ name: 'rules' })] })).toEqual([]);
  });

  it('to provider options are validated after merging those of the model', () => {
    const schema = z.object({ seed: z.number(), top: z.number() });
    const choosy = Object.assign(() => provider({ apiKey: '' }), { providerOptions: schema });
    const models = [model({ provider: choosy, providerOptions: { seed: 1, top: 1 } })];
    expect(problems({ models, prompts: [prompt({ providerOptions: { top: 2 } })] })).toEqual([]);
    expect(problems({ models, prompts: [prompt({ providerOptions: { top: 'x' } })] })).toEqual([
      expect.stringContaining('prompts.talk.providerOptions.top: is refused by the provider'),
    ]);
  });
});

describe('[definitions 3] secrets in prompts', () => {
  const parts = [{ type: 'env', property: 'API_KEY' }];

  it('refuses an env part that names a variable declared secret anywhere', () => {
    const tools = { search_web: tool({ variables: [{ name: 'API_KEY', type: 'secret' }] }) };
    expect(problems({ prompts: [prompt({ prompt: parts })], tools })).toEqual([
      "prompts.talk.prompt[0].property: would show 'API_KEY' to the model, which the tool 'search_web' declares as a secret",
    ]);
  });

  it('accepts an env part of a text variable and of an undeclared one', () => {
    const variables = [{ name: 'API_KEY', type: 'text' }];
    expect(problems({ prompts: [prompt({ prompt: parts, variables })] })).toEqual([]);
    expect(problems({ prompts: [prompt({ prompt: parts })] })).toEqual([]);
  });
});

describe('[definitions 6.3] entries of tools', () => {
  const others = {
    agents: [agent(), worker(), worker({ name: 'hidden', exposeAsTool: false })],
    tools: { search_web: text('query') },
    models: [model({ providerTools: ['web_search'] })],
  };
  const sub = prompt({ name: 'summarise', requiredSchema: z.object({ topic: z.string() }) });
  const entryProblems = (...tools: unknown[]) =>
    problems({ ...others, prompts: [prompt({ tools }), sub] }).map((each) =>
      each.replace('prompts.talk.', ''),
    );

  it('may name a tool, a prompt, agents of both types and a provider tool', () => {
    expect(entryProblems('search_web', 'summarise', 'helper', 'worker', 'web_search')).toEqual([]);
    expect(entryProblems('provider:web_search')).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    [
      'a name that nothing has',
      'serch_web',
      "tools[0].name: names a tool, prompt or agent 'serch_web', which does not exist. Did you mean 'search_web'?",
    ],
    [
      'a subagent that is not exposed',
      'hidden',
      "tools[0].name: names the agent 'hidden', which must set exposeAsTool: true to be a subagent",
    ],
    [
      'subagent fields of a tool',
      { name: 'search_web', blocking: false },
      "tools[0].blocking: does not apply: 'search_web' is a tool",
    ],
    [
      'subagent fields of a prompt',
      { name: 'summarise', resumable: false },
      "tools[0].resumable: does not apply: 'summarise' is a prompt",
    ],
    [
      'subagent fields of a handoff',
      { name: 'helper', immediate: true },
      "tools[0].immediate: does not apply: 'helper' is an ai_human agent (a handoff)",
    ],
    [
      'parallel of a tool entry',
      { name: 'search_web', parallel: true },
      "tools[0].parallel: does not apply: 'search_web' is a tool",
    ],
    [
      'parallel of a subagent that does not block',
      { name: 'worker', blocking: false, parallel: true },
      'tools[0].parallel: is true, but calls that do not block never hold each other up: leave it out, or let them block',
    ],
    [
      'parallel of a resumable subagent',
      { name: 'worker', resumable: { receives_messages: 'side_a' }, parallel: true },
      'tools[0].parallel: is true, but a resumable subagent is called through subagent_create and subagent_message, which run one after another: leave out one of the two',
    ],
    [
      'sub-prompt fields of a subagent',
      { name: 'worker', includeErrors: false },
      "tools[0].includeErrors: does not apply: 'worker' is a dual_ai agent (a subagent)",
    ],
    [
      "an argument that the target's schema lacks",
      { name: 'summarise', initUserMessageProperty: 'topc' },
      "tools[0].initUserMessageProperty: names the argument 'topc', but the prompt 'summarise' takes 'topic'. Did you mean 'topic'?",
    ],
    [
      'an argument of an agent without a schema',
      { name: 'worker', initAgentNameProperty: 'label' },
      "tools[0].initAgentNameProperty: names the argument 'label', but the prompt 'talk' takes none.",
    ],
  ])('refuses %s', (_title, entry, expected) => {
    expect(entryProblems(entry)).toEqual([expected]);
  });

  it('may name a tool of a fallback, one that only the provider lists, and those of a subagent', () => {
    const models = [model({ fallbacks: ['other'] }), model({ name: 'other', providerTools: ['web_search'] })];
    const tools = ['web_search', 'subagent_create', 'subagent_message'];
    expect(problems({ ...others, models, prompts: [prompt({ tools }), sub] })).toEqual([]);
    const definition = prompt({ tools: ['provider:draw'] });
    const built = buildRegistry([
      { file: 'x.ts', definition },
      { file: 'y.ts', definition: model() },
    ]);
    expect(built.problems).toEqual([]);
    expect(built.warnings).toMatchObject([
      {
        file: 'x.ts',
        field: 'tools[0].name',
        message: expect.stringContaining('no model of the prompt lists'),
      },
    ]);
  });

  it.each(['Support desk', 'größe', '1st', 'a'.repeat(65)])(
    'refuses %j, by which models would have to call it; a resumable subagent is not called by its name',
    (name) => {
      const refused = [expect.stringMatching(/^prompts\.\w+\.tools\[0\]\.name: .* every provider accepts/)];
      const named = (tools: unknown[], more: RegistryInput = {}) =>
        problems({ ...others, ...more, prompts: [prompt({ tools }), sub] });
      const agents = [agent(), worker({ name })];
      expect(named([name], { agents })).toEqual(refused);
      expect(named([name], { agents: [agent({ name }), agent()] })).toEqual(refused);
      expect(problems({ ...others, prompts: [prompt({ tools: [name] }), prompt({ name })] })).toEqual(
        refused,
      );
      expect(named([{ name, resumable: { receives_messages: 'side_a' } }], { agents })).toEqual([]);
    },
  );

  it('refuses the same name twice', () => {
    expect(entryProblems('search_web', { name: 'search_web' })).toEqual([
      "tools[1].name: repeats 'search_web' of tools[0]",
    ]);
  });

  it('reads the schema of the side that receives messages for a resumable child', () => {
    const agents = [agent(), worker({ sideB: { prompt: 'summarise' } })];
    const resumable = { receives_messages: 'side_b' };
    const entry = { name: 'worker', initUserMessageProperty: 'topic', resumable };
    expect(problems({ ...others, agents, prompts: [prompt({ tools: [entry] }), sub] })).toEqual([]);
  });
});

describe('[definitions 8] references of a tool', () => {
  it('in uses may be tools of a subagent', () => {
    expect(
      problems({ tools: { search_web: tool({ uses: ['subagent_create', 'subagent_message'] }) } }),
    ).toEqual([]);
  });

  it('in uses must resolve', () => {
    const tools = { search_web: tool({ uses: ['talk', 'serch_web'] }) };
    expect(problems({ tools })).toEqual([
      "tools.search_web.uses[1]: names a tool, prompt or agent 'serch_web', which does not exist. Did you mean 'search_web'?",
    ]);
  });
});
