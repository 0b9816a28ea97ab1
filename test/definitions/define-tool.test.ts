import { z } from 'zod';
import { problemsOf, tool, toolInput } from './sample.ts';

const problems = (fields: object) => problemsOf(() => tool(fields));

describe('[definitions 8] defineTool', () => {
  it('fills in every default of a minimal tool', () => {
    const { execute } = toolInput();
    expect(tool({ execute })).toEqual({
      kind: 'tool',
      name: '',
      description: 'Does it.',
      execute,
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      variables: [],
      executionMode: 'local',
      idempotent: false,
      quick: false,
      timeoutMs: 1_800_000,
    });
  });

  it('keeps every field that an author gives', () => {
    const given = {
      args: z.object({ city: z.string() }),
      uses: ['search'],
      executionMode: 'provider',
      executionProvider: 'vendor',
      idempotent: true,
      timeoutMs: 5,
    };
    expect(tool(given)).toMatchObject({ ...given, args: expect.anything() });
    expect(tool(given).args).toBe(given.args);
  });

  it('treats a quick tool as idempotent by default', () => {
    expect(tool({ quick: true })).toMatchObject({ quick: true, idempotent: true });
    expect(tool({ quick: true, idempotent: false })).toMatchObject({ quick: true, idempotent: false });
  });

  it('keeps parallel of a tool that may run again', () => {
    expect(tool({ quick: true, parallel: true })).toMatchObject({ parallel: true });
    expect(tool({ idempotent: true, parallel: true })).toMatchObject({ parallel: true });
    expect(tool({ parallel: false })).not.toHaveProperty('parallel');
  });

  it('describes its arguments to models', () => {
    expect(tool({ args: z.object({ city: z.string() }) }).parameters).toEqual({
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    });
  });
});

describe('[definitions 8] problems of a tool', () => {
  it.each<[string, object, string[]]>([
    [
      'parallel without idempotent',
      { parallel: true },
      [
        'parallel: is true, but a tool whose calls run beside each other must be idempotent and only read: set idempotent: true if it may run again after a lost worker, and leave out parallel if it changes anything',
      ],
    ],
    [
      'parallel of a quick tool that may run once',
      { parallel: true, quick: true, idempotent: false },
      [expect.stringContaining('parallel: is true, but a tool whose calls run beside each other')],
    ],
    [
      'parallel of a tool that asks people',
      { parallel: true, idempotent: true, asks: true },
      ['parallel: is true, but a tool that asks people cannot run beside others'],
    ],
    [
      'parallel of a tool of a provider',
      { parallel: true, idempotent: true, executionMode: 'provider' },
      ['parallel: has no effect on a tool that a provider runs'],
    ],
    ['no description', { description: undefined }, ['description: is required']],
    ['an empty description', { description: '' }, ['description: must not be empty']],
    ['no execute', { execute: undefined }, ['execute: is required']],
    [
      'an execute that is not a function',
      { execute: {} },
      ['execute: must be a function: (state, args) => result'],
    ],
    [
      'plain fields as args',
      { args: { a: z.string() } },
      ['args: must be a zod 4 object schema: z.object({ … })'],
    ],
    [
      'a schema of zod 3',
      { args: { _def: { typeName: 'ZodObject' }, parse: () => ({}), safeParse: () => ({}) } },
      [
        "args: is a schema of zod 3: install zod 4 (npm install zod@4), or import it from 'zod/v4' if that exists",
      ],
    ],
    ['no time', { timeoutMs: 0 }, ['timeoutMs: must be more than 0']],
    [
      'an executionProvider of a local tool',
      { executionProvider: 'x' },
      ["executionProvider: has no effect without executionMode: 'provider'"],
    ],
    ['a name', { name: 'x' }, ["name: is not a field: a tool's name is the name of its file"]],
    [
      'the arguments of other frameworks',
      { parameters: {} },
      ['parameters: is not a field: write args: z.object({ … })'],
    ],
    ['a typo', { timeoutMS: 5 }, ["timeoutMS: is not a field. Did you mean 'timeoutMs'?"]],
  ])('refuses %s', (_title, fields, expected) => {
    expect(problems(fields)).toEqual(expected);
  });
});
