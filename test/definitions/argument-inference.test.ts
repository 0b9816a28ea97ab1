/** Half of this file is checked by `npm run typecheck`: an unused @ts-expect-error fails it. */
import { z } from 'zod';
import * as mini from 'zod/mini';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { defineAgent, defineModel, defineTool } from '../../src/index.ts';
import { provider } from './sample.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const isTrue = <_T extends true>() => undefined;

describe('[definitions 8] types of execute', () => {
  it('infer the arguments from the schema, parsed and with defaults', () => {
    const tool = defineTool({
      description: 'Finds.',
      args: z.object({ city: z.string(), limit: z.number().default(5), unit: z.enum(['c', 'f']).optional() }),
      execute: async (state, args) => {
        isTrue<Equal<typeof state, ThreadState>>();
        isTrue<Equal<typeof args, { city: string; limit: number; unit?: 'c' | 'f' | undefined }>>();
        // @ts-expect-error the schema has no such field
        args.town;
        return { status: 'success', result: args.city };
      },
    });
    expect(tool.args?.safeParse({ city: 'Rome' })).toEqual({
      success: true,
      data: { city: 'Rome', limit: 5 },
    });
  });

  it('infer the arguments of a zod/mini schema too', () => {
    defineTool({
      description: 'Finds.',
      args: mini.object({ city: mini.string() }),
      execute: (_state, args) => ({ status: 'success', result: args.city }),
    });
  });

  it('pass no arguments to a tool without a schema', () => {
    defineTool({ description: 'Waits.', execute: async () => ({ status: 'success' }) });
    defineTool({
      description: 'Waits.',
      // @ts-expect-error there is nothing to pass
      execute: async (_state, args) => ({ status: 'success', result: String(args.city) }),
    });
  });

  it('refuse invalid results and schemas', () => {
    defineTool({
      description: 'Fails.',
      // @ts-expect-error a status is success or error
      execute: async () => ({ status: 'done' }),
    });
    expect(() =>
      defineTool({
        description: 'Fails.',
        // @ts-expect-error arguments are an object schema
        args: z.string(),
        execute: async () => ({ status: 'success' as const }),
      }),
    ).toThrow('args must be a zod 4 object schema');
  });
});

describe('[definitions 7] types of fields', () => {
  it('refuse unknown fields and values', () => {
    expect(() =>
      defineAgent({
        name: 'helper',
        sideA: { prompt: 'talk' },
        // @ts-expect-error a typo
        exposeAsTol: true,
      }),
    ).toThrow();
    expect(() =>
      defineAgent({
        name: 'helper',
        // @ts-expect-error not a type
        type: 'dual',
        sideA: { prompt: 'talk' },
      }),
    ).toThrow();
    expect(() =>
      defineModel({
        name: 'fast',
        provider,
        model: 'x',
        // @ts-expect-error a price is a number
        inputPrice: '1',
      }),
    ).toThrow();
  });
});
