import { definitionWarnings } from '../../src/definitions/definition-mark.ts';
import { defineAgent, isDefinition } from '../../src/definitions/index.ts';
import { agent, agentInput, problemsOf } from './sample.ts';

const problems = (fields: object) => problemsOf(() => agent(fields));
const DUAL = { type: 'dual_ai', sideB: { prompt: 'other' }, maxSessionTurns: 8 };

describe('[definitions 7] defineAgent', () => {
  it('fills in every default of a minimal agent', () => {
    expect(agent()).toEqual({
      kind: 'agent',
      name: 'helper',
      type: 'ai_human',
      sideA: { prompt: 'talk', stopOnResponse: true },
      exposeAsTool: false,
      env: {},
      variables: [],
      hooks: [],
    });
  });

  it('keeps every field that an author gives', () => {
    const given = {
      ...DUAL,
      exposeAsTool: true,
      toolDescription: 'Helps.',
      title: 'Helper',
      description: 'A helper',
      icon: '/icon.svg',
      env: { REGION: 'eu' },
      hooks: ['log_it'],
    };
    expect(agent(given)).toMatchObject({ ...given, sideB: { prompt: 'other', stopOnResponse: true } });
  });

  it('keeps the label of a side, and packaging fields by name', () => {
    const given = { packageName: 'p', version: '1.0.0', author: 'A', license: 'MIT', tags: ['x', 'y'] };
    const sideA = { prompt: 'talk', label: 'The helper' };
    expect(agent({ ...given, sideA })).toMatchObject({ ...given, sideA });
  });

  it('freezes what it returns and shares nothing with the input', () => {
    const input = { ...agentInput(), env: { REGION: 'eu' } };
    const made = defineAgent(input);
    input.env.REGION = 'us';
    expect(made.env).toEqual({ REGION: 'eu' });
    expect([made, made.env, made.sideA, made.variables].every(Object.isFrozen)).toBe(true);
  });

  it('marks its result by a registered symbol, which a copy does not carry', () => {
    expect(isDefinition(agent())).toBe(true);
    expect(Symbol.for('everthread.definition') in agent()).toBe(true);
    expect(isDefinition({ ...agent() })).toBe(false);
  });
});

describe('[definitions 7.1] sides of an agent', () => {
  const binding = { name: 'finish', messageProperty: 'text', attachmentsProperty: 'files' };

  it.each([
    ['a name', { sessionStop: 'finish' }, { sessionStop: { name: 'finish' } }],
    ['an object', { sessionFail: binding }, { sessionFail: binding }],
    ['the alias endSessionTool', { endSessionTool: 'finish' }, { sessionStop: { name: 'finish' } }],
    ['the alias failSessionTool', { failSessionTool: binding }, { sessionFail: binding }],
    ['the alias statusTool', { statusTool: 'finish' }, { sessionStatus: { name: 'finish' } }],
  ])('accepts a session tool as %s and makes it an object', (_title, fields, expected) => {
    const { sideA } = agent({ sideA: { prompt: 'talk', ...fields } });
    expect(sideA).toEqual({ prompt: 'talk', stopOnResponse: true, ...expected });
  });

  it('warns about a deprecated alias', () => {
    const made = agent({ sideA: { prompt: 'talk', statusTool: 'finish' } });
    expect(definitionWarnings(made)).toEqual([
      { field: 'sideA.statusTool', message: 'is deprecated: use sessionStatus' },
    ]);
  });
});

describe('[definitions 3] variables and env of an agent', () => {
  it('fills in the defaults of a variable, which is a secret unless declared as text', () => {
    expect(agent({ variables: [{ name: 'KEY' }] }).variables).toEqual([
      { name: 'KEY', type: 'secret', required: false, scoped: false, description: '' },
    ]);
  });

  it('takes a deprecated tenvs record as env, and env wins', () => {
    expect(agent({ tenvs: { A: '1', B: '1' }, env: { B: '2' } }).env).toEqual({ A: '1', B: '2' });
  });
});

describe('[definitions 7] problems of an agent', () => {
  it.each<[string, object, string[]]>([
    ['no name', { name: undefined }, ['name: is required']],
    ['an empty name', { name: '' }, ['name: must not be empty']],
    ['no sideA', { sideA: undefined }, ['sideA: is required']],
    ['no prompt', { sideA: {} }, ['sideA.prompt: is required']],
    [
      'an unknown type',
      { type: 'dual' },
      ["type: must be one of 'ai_human', 'dual_ai', not 'dual'. Did you mean 'dual_ai'?"],
    ],
    ['dual_ai without sideB', { type: 'dual_ai' }, ['sideB: is required for a dual_ai agent: the second AI']],
    [
      'exposeAsTool without toolDescription',
      { exposeAsTool: true },
      ['toolDescription: is required with exposeAsTool: models read it to choose the tool'],
    ],
    ['no turns', { ...DUAL, maxSessionTurns: 0 }, ['maxSessionTurns: must be more than 0']],
    [
      'broken steps',
      { sideA: { prompt: 'talk', maxSteps: 1.5 } },
      ['sideA.maxSteps: must be a whole number, not 1.5'],
    ],
    [
      'a response property without its tool',
      { sideA: { prompt: 'talk', stopToolResponseProperty: 'text' } },
      ['sideA.stopToolResponseProperty: names an argument of stopTool, which is not set'],
    ],
    [
      'both spellings of a binding',
      { sideA: { prompt: 'talk', sessionStop: 'a', endSessionTool: 'b' } },
      ['sideA.endSessionTool: is the deprecated name of sessionStop, which is also set: keep sessionStop'],
    ],
    [
      'a binding without name',
      { sideA: { prompt: 'talk', sessionStop: { messageProperty: 'x' } } },
      ['sideA.sessionStop.name: is required'],
    ],
    ['an env value that is not a string', { env: { A: 1 } }, ['env.A: must be a string, not 1']],
    [
      'a variable declared twice',
      { variables: [{ name: 'A' }, { name: 'A' }] },
      ["variables[1].name: 'A' is declared twice"],
    ],
    ['a typo', { exposeAsTol: true }, ["exposeAsTol: is not a field. Did you mean 'exposeAsTool'?"]],
    [
      'a typo in a side',
      { sideA: { prompt: 'talk', stopOnRespons: true } },
      ["sideA.stopOnRespons: is not a field. Did you mean 'stopOnResponse'?"],
    ],
    [
      'the field of an old guide',
      { sideA: { prompt: 'talk', defaultPrompt: 'x' } },
      ['sideA.defaultPrompt: is not a field: write prompt'],
    ],
    ['a word from nowhere', { zzz: 1 }, ['zzz: is not a field.']],
  ])('refuses %s', (_title, fields, expected) => {
    expect(problems(fields)).toEqual(expected);
  });

  it('lists all problems in one error with a code', () => {
    const broken = { nam: 'x', type: 'dual_ai', exposeAsTool: true } as never;
    expect(() => defineAgent(broken)).toThrow(
      expect.objectContaining({ name: 'RuntimeError', code: 'InvalidDefinitions' }),
    );
    expect(problemsOf(() => defineAgent(broken)).map((text) => text.split(':')[0])).toEqual([
      'name',
      'sideA',
      'nam',
      'sideB',
      'toolDescription',
    ]);
  });

  it('refuses what is not an object', () => {
    expect(problemsOf(() => defineAgent('helper' as never))).toEqual([': takes one object with the fields']);
  });

  it('warns about a dual_ai agent without an end condition and about fields without effect', () => {
    const fieldsOf = (fields: object) => definitionWarnings(agent(fields)).map(({ field }) => field);
    expect(fieldsOf({ ...DUAL, maxSessionTurns: undefined })).toEqual(['maxSessionTurns']);
    expect(fieldsOf({ ...DUAL, type: 'ai_human' })).toEqual(['maxSessionTurns', 'sideB']);
  });
});
