/** defineEffect and defineThreadEndpoint: their forms, their types (checked by `npm run typecheck`), their problems. */
import { z } from 'zod';
import { isDefinition } from '../../src/definitions/index.ts';
import {
  defineEffect,
  defineThreadEndpoint,
  type EndpointParams,
  type ThreadState,
} from '../../src/index.ts';
import { problemsOf } from './sample.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const isTrue = <_T extends true>() => undefined;

const execute = async () => undefined;
const args = z.object({ city: z.string(), limit: z.number().default(5) });

/** `defineEffect` as an author without types would call it. */
const effect = defineEffect as unknown as (...given: unknown[]) => ReturnType<typeof defineEffect>;
const problems = (...given: unknown[]) => problemsOf(() => effect(...given));

describe('[definitions 10] defineEffect', () => {
  it('takes a description, a schema and a handler', () => {
    const made = defineEffect('Reminds.', args, (state, given) => {
      isTrue<Equal<typeof state, ThreadState>>();
      isTrue<Equal<typeof given, { city: string; limit: number }>>();
    });
    expect(made).toEqual({
      kind: 'effect',
      name: '',
      description: 'Reminds.',
      args,
      execute: expect.any(Function),
    });
    expect(made.args).toBe(args);
    expect(isDefinition(made)).toBe(true);
  });

  it('takes a description and a handler', () => {
    const made = { kind: 'effect', name: '', description: 'Reminds.', execute };
    expect(defineEffect('Reminds.', execute)).toEqual(made);
    expect(defineEffect('Reminds.', undefined, execute)).toEqual(made);
    defineEffect(
      'Reminds.',
      // @ts-expect-error there is nothing to pass
      async (_state, given) => given.text,
    );
  });

  it('takes one object too', () => {
    const made = defineEffect({
      description: 'Reminds.',
      args,
      execute: async (_state, given) => {
        isTrue<Equal<typeof given, { city: string; limit: number }>>();
      },
    });
    expect(made).toMatchObject({ description: 'Reminds.', name: '' });
    expect(made.args).toBe(args);
    expect(defineEffect({ description: 'Reminds.', execute })).toEqual(defineEffect('Reminds.', execute));
  });

  it('takes any zod object, since no model reads it', () => {
    expect(problems('Reminds.', z.object({ at: z.coerce.date() }), execute)).toEqual([]);
  });

  it.each<[string, unknown[], string[]]>([
    ['nothing', [], ['description: is required', 'execute: is required']],
    ['an empty description', ['', execute], ['description: must not be empty']],
    ['no handler', ['Reminds.', args], ['execute: is required']],
    [
      'a schema that is invalid',
      ['Reminds.', { city: z.string() }, execute],
      ['args: must be a zod 4 object schema: z.object({ … })'],
    ],
    [
      'handler and schema the wrong way round',
      ['Reminds.', execute, args],
      [
        'args: must be a zod 4 object schema: z.object({ … })',
        'execute: must be a function: (state, args) => …',
      ],
    ],
    [
      'a name',
      [{ name: 'x', description: 'Reminds.', execute }],
      ["name: is not a field: an effect's name is the name of its file"],
    ],
    [
      'a handler by another name',
      [{ description: 'Reminds.', handler: execute }],
      ['execute: is required', 'handler: is not a field: write execute'],
    ],
  ])('refuses %s', (_title, given, expected) => {
    expect(problems(...given)).toEqual(expected);
  });
});

describe('[definitions 11] defineThreadEndpoint', () => {
  it('takes a handler', () => {
    const made = defineThreadEndpoint((request, state, params) => {
      isTrue<Equal<typeof request, Request>>();
      isTrue<Equal<typeof state, ThreadState>>();
      isTrue<Equal<typeof params, EndpointParams>>();
      return new Response(params.id);
    });
    expect(made).toEqual({ kind: 'endpoint', name: '', handler: expect.any(Function) });
    expect(isDefinition(made)).toBe(true);
  });

  it('refuses anything else', () => {
    const define = defineThreadEndpoint as (given: unknown) => unknown;
    const problem = ': takes one function: (request, state, params) => Response';
    expect(problemsOf(() => define(undefined))).toEqual([problem]);
    expect(problemsOf(() => define({ handler: execute }))).toEqual([problem]);
  });

  it('refuses by its type a handler that does not return a Response', () => {
    // @ts-expect-error a handler answers with a Response
    defineThreadEndpoint(async () => 'text');
  });
});
