import { z } from 'zod';
import { definitionWarnings } from '../../src/definitions/definition-mark.ts';
import { problemsOf, prompt } from './sample.ts';

const problems = (fields: object) => problemsOf(() => prompt(fields));

describe('[definitions 6.1] definePrompt', () => {
  it('fills in every default of a minimal prompt', () => {
    expect(prompt()).toEqual({
      kind: 'prompt',
      name: 'talk',
      toolDescription: 'Talks.',
      prompt: [{ type: 'text', content: 'You talk.' }],
      model: 'fast',
      includeChat: false,
      includePastTools: false,
      parallelToolCalls: false,
      toolChoice: 'auto',
      tools: [],
      variables: [],
      env: {},
      recentImageThreshold: 10,
      providerOptions: {},
      hooks: [],
    });
  });

  it('keeps every field that an author gives', () => {
    const given = {
      includeChat: true,
      includePastTools: true,
      parallelToolCalls: true,
      toolChoice: 'required',
      requiredSchema: z.object({ topic: z.string() }),
      env: { A: '1' },
      reasoning: { effort: 'high', maxTokens: 100, exclude: true, include: false },
      recentImageThreshold: 0,
      providerOptions: { seed: 1 },
      hooks: ['log_it'],
    };
    expect(prompt(given)).toMatchObject(given);
    expect(prompt(given).requiredSchema).toBe(given.requiredSchema);
  });

  it('ignores the deprecated exposeAsTool and warns', () => {
    const made = prompt({ exposeAsTool: true });
    expect(made).not.toHaveProperty('exposeAsTool');
    expect(definitionWarnings(made).map(({ field }) => field)).toEqual(['exposeAsTool']);
  });

  it('takes a deprecated tenvs schema as secret variables', () => {
    const tenvs = z.object({ KEY: z.string().describe('The key'), SPARE: z.string().optional() });
    expect(prompt({ tenvs }).variables).toEqual([
      { name: 'KEY', type: 'secret', required: true, scoped: false, description: 'The key' },
      { name: 'SPARE', type: 'secret', required: false, scoped: false, description: '' },
    ]);
  });
});

describe('[definitions 6.2] parts of a prompt', () => {
  it.each([
    [
      { type: 'text', content: 'a' },
      { type: 'text', content: 'a' },
    ],
    [
      { type: 'include', prompt: 'b' },
      { type: 'include', prompt: 'b' },
    ],
    [
      { type: 'env', property: 'C' },
      { type: 'env', property: 'C' },
    ],
    [
      { type: 'string', value: 'a' },
      { type: 'text', content: 'a' },
    ],
    [
      { type: 'prompt', id: 'b', label: 'B' },
      { type: 'include', prompt: 'b' },
    ],
    [
      { type: 'variable', value: 'c' },
      { type: 'text', content: '{{c}}' },
    ],
  ])('makes %j the part %j', (given, expected) => {
    expect(prompt({ prompt: [given] }).prompt).toEqual([expected]);
  });
});

describe('[definitions 6.3] entries of tools', () => {
  const entry = { env: {}, options: {}, extra: {} };

  it('makes a name an entry', () => {
    expect(prompt({ tools: ['search'] }).tools).toEqual([{ name: 'search', ...entry }]);
  });

  it('keeps env, deprecated tenvs and options of an entry', () => {
    const given = { name: 'search', tenvs: { A: '1', B: '1' }, env: { B: '2' }, options: { limit: 3 } };
    expect(prompt({ tools: [given] }).tools).toEqual([
      { name: 'search', env: { A: '1', B: '2' }, options: { limit: 3 }, extra: {} },
    ]);
  });

  it.each<[string, object]>([
    [
      'sub-prompt',
      {
        includeTextResponse: false,
        includeToolCalls: false,
        includeErrors: false,
        initUserMessageProperty: 'topic',
      },
    ],
    [
      'subagent',
      {
        blocking: false,
        immediate: { nameEnv: 'N', descriptionEnv: 'D', scopedEnv: ['S'] },
        optional: 'FLAG',
        initAgentNameProperty: 'name',
        initAttachmentsProperty: 'files',
        resumable: { receives_messages: 'side_b', maxInstances: 2, parentCommunication: 'explicit' },
      },
    ],
    ['subagent with short forms', { immediate: true, resumable: false }],
  ])('keeps the fields of a %s as given', (_title, extra) => {
    expect(prompt({ tools: [{ name: 'other', ...extra }] }).tools).toEqual([
      { name: 'other', env: {}, options: {}, extra },
    ]);
  });
});

describe('[definitions 6] problems of a prompt', () => {
  it.each<[string, object, string[]]>([
    ['no name', { name: undefined }, ['name: is required']],
    ['no toolDescription', { toolDescription: undefined }, ['toolDescription: is required']],
    ['no text', { prompt: undefined }, ['prompt: is required']],
    ['no model', { model: '' }, ['model: must not be empty']],
    [
      'a switch that is not a boolean',
      { includeChat: 'yes' },
      ['includeChat: must be true or false, not a string'],
    ],
    [
      'an unknown choice',
      { toolChoice: 'requierd' },
      ["toolChoice: must be one of 'auto', 'none', 'required', not 'requierd'. Did you mean 'required'?"],
    ],
    ['a negative threshold', { recentImageThreshold: -1 }, ['recentImageThreshold: must be 0 or more']],
    [
      'an unknown part',
      { prompt: [{ type: 'inclde', prompt: 'x' }] },
      [
        "prompt[0].type: must be one of 'text', 'include', 'env', 'string', 'prompt', 'variable', not 'inclde'. Did you mean 'include'?",
      ],
    ],
    ['a part without content', { prompt: [{ type: 'text' }] }, ['prompt[0].content: is required']],
    [
      'a schema that is not an object',
      { requiredSchema: z.string() },
      ['requiredSchema: must be a zod 4 object schema: z.object({ … })'],
    ],
    [
      'a schema that models cannot read',
      { requiredSchema: z.object({ when: z.date() }) },
      [expect.stringContaining('requiredSchema.when: uses z.date') as never],
    ],
    [
      'an unknown effort',
      { reasoning: { effort: 'max' } },
      ["reasoning.effort: must be one of 'low', 'medium', 'high', not 'max'"],
    ],
    [
      'a typo in an entry',
      { tools: ['a', { name: 'b', blockin: true }] },
      ["tools[1].blockin: is not a field. Did you mean 'blocking'?"],
    ],
    [
      'an immediate that is neither flag nor object',
      { tools: [{ name: 'b', immediate: 'yes' }] },
      ['tools[0].immediate: cannot be a string here'],
    ],
    [
      'a typo inside immediate',
      { tools: [{ name: 'b', immediate: { nameEn: 'X' } }] },
      ["tools[0].immediate.nameEn: is not a field. Did you mean 'nameEnv'?"],
    ],
    [
      'a resumable that says not who listens',
      { tools: [{ name: 'b', resumable: { maxInstances: 0 } }] },
      [
        'tools[0].resumable.receives_messages: is required',
        'tools[0].resumable.maxInstances: must be more than 0',
      ],
    ],
    [
      'resumable: true, which says not who listens',
      { tools: [{ name: 'b', resumable: true }] },
      ['tools[0].resumable: cannot be true here'],
    ],
    [
      'a field of other frameworks',
      { system: 'x' },
      ['system: is not a field: write prompt, the system text'],
    ],
  ])('refuses %s', (_title, fields, expected) => {
    expect(problems(fields)).toEqual(expected);
  });
});
