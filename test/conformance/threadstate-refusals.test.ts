/** Values that ThreadState cannot store: its members refuse them with a code, and the call continues. */
import { describe, expect, it } from '@jest/globals';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { codeOf, work } from '../support/tool-work.ts';

/** Returns the methods of a state without their types, since author code may be untyped. */
const untyped = (state: ThreadState): Readonly<Record<string, (...args: unknown[]) => unknown>> =>
  Object.fromEntries(Object.entries(state).filter(([, member]) => typeof member === 'function'));

const circular: Record<string, unknown> = {};
circular.self = circular;

/** Values that JSON cannot hold, or would change. */
const STRANGE: Readonly<Record<string, unknown>> = {
  'a bigint': { n: 1n },
  NaN: { n: Number.NaN },
  'a function': { n: () => 1 },
  'a symbol': { n: Symbol('n') },
  'a date': { n: new Date(0) },
  'a map': { n: new Map() },
  'a cycle': circular,
  'a hole': { n: [undefined] },
  'a list in place of an object': [1],
  'a text in place of an object': 'n',
  null: null,
};

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

describe('ThreadState: values that cannot be stored', () => {
  it('[threadstate tools] are refused at the call by queueTool, queueMessage and injectMessage', async () => {
    const { answers, runtime, threadId } = await work({
      hand: async (state) => {
        const call = untyped(state);
        const refused: Record<string, unknown> = {};
        for (const [what, value] of Object.entries(STRANGE))
          refused[what] = [
            await codeOf(() => call.queueTool?.('hand', value)),
            await codeOf(() => call.queueMessage?.({ content: 'hi', metadata: value })),
            await codeOf(() => call.injectMessage?.({ role: 'user', content: 'hi', metadata: value })),
          ];
        return refused;
      },
    });
    const code = 'InvalidValue';
    const expected = ([what, value]: readonly [string, unknown]) => {
      const ofMessage = isObject(value) ? code : 'InvalidMessage';
      return [what, [code, ofMessage, ofMessage]];
    };
    expect(answers).toEqual([Object.fromEntries(Object.entries(STRANGE).map(expected))]);
    // None of these values was queued or stored.
    expect(await runtime.messages(threadId)).toHaveLength(4);
  });

  it('[threadstate messaging] reads and queued messages of an invalid shape are refused with a code', async () => {
    const { answers } = await work({
      ask: async (state) => {
        const call = untyped(state);
        return [
          ...(await Promise.all(
            [
              { limit: 0 },
              { limit: '5' },
              { offset: -1 },
              { order: 'up' },
              { maxDepth: 1.5 },
              { size: 5 },
              'all',
              null,
            ].map((options) => codeOf(() => call.getMessages?.(options))),
          )),
          await codeOf(() => call.getLogs?.({ includeSilent: true })),
          await codeOf(() => call.queueMessage?.('')),
          await codeOf(() => call.queueMessage?.({ content: '' })),
          await codeOf(() => call.queueMessage?.({ content: 'hi', role: 'system' })),
        ];
      },
    });
    expect(answers).toEqual([[...Array(9).fill('InvalidValue'), ...Array(3).fill('InvalidMessage')]]);
  });

  it('[threadstate utilities] every member answers, or refuses with a code, for any argument', async () => {
    const strange = [
      ...Object.values(STRANGE),
      5n,
      Number.NaN,
      () => 1,
      Symbol('s'),
      5,
      true,
      undefined,
      '\0',
      '\ud800',
    ];
    const uncoded: string[] = [];
    await work({
      hand: async (state) => {
        for (const [name, member] of Object.entries(untyped(state))) {
          if (name === 'terminate' || name === 'runCode') continue;
          for (const value of strange)
            for (const given of [[value], ['x', value], ['x', 'x', value]])
              await Promise.resolve()
                .then(() => member(...given))
                .catch((thrown: { code?: string; message: string }) => {
                  if (thrown.code === undefined) uncoded.push(`${name}: ${thrown.message}`);
                });
        }
      },
    });
    expect([...new Set(uncoded)]).toEqual([]);
  });
});
