/** Chains of hooks (definitions §9): one table for the eight kinds that transform a value. */
import { describe, expect, it } from '@jest/globals';
import type { HookRunner } from '../../src/author/hooks/runner.ts';
import type { HookName } from '../../src/core/author/hook.ts';
import { CALL, contextMessage, draft, FAILURE, failures, hook, open, SUCCESS } from './hook-runner.ts';

/** For each of these chains: how it is run, the value before, what a good hook returns, and the value after. */
const CHAINS: readonly {
  readonly name: HookName;
  readonly ask: (hooks: HookRunner) => Promise<unknown>;
  readonly before: unknown;
  readonly good: unknown;
  readonly after: unknown;
  readonly bad: readonly (readonly [returned: unknown, expected: RegExp])[];
}[] = [
  {
    name: 'after_system_message',
    ask: (hooks) => hooks.request('e').system?.('S') as Promise<unknown>,
    before: 'S',
    good: 'T',
    after: 'T',
    bad: [
      [7, /must return a string, or nothing; it returned a number/],
      [['T'], /it returned a list/],
    ],
  },
  {
    name: 'filter_messages',
    ask: (hooks) => hooks.request('e').messages?.([contextMessage('m1')]) as Promise<unknown>,
    before: [contextMessage('m1')],
    good: [],
    after: [],
    bad: [
      [{}, /a list of messages/],
      [[null], /Message 0 that it returned is not an object/],
      [[{ role: 'user', content: 'x' }], /has no "id"/],
      [[{ id: 'x', role: 'bot' }], /has the role "bot"/],
      [[{ id: 'x', role: 'user', content: 7 }], /neither a string nor null/],
      [[{ id: 'x', role: 'assistant', tool_calls: [] }], /tool_calls that are not JSON text/],
    ],
  },
  {
    name: 'prefilter_llm_history',
    ask: (hooks) => hooks.request('e').history?.([{ role: 'user', content: 'u' }]) as Promise<unknown>,
    before: [{ role: 'user', content: 'u' }],
    good: [{ role: 'system', content: 's' }],
    after: [{ role: 'system', content: 's' }],
    bad: [['text', /a list of LLM messages/]],
  },
  {
    name: 'before_create_message',
    ask: (hooks) => hooks.beforeRow(draft(), { written: true }),
    before: draft(),
    good: { content: 'other', silent: true, metadata: { a: 1 }, role: 'system', id: 'not', tool_calls: '[]' },
    after: draft({ content: 'other', silent: true, metadata: { a: 1 }, role: 'system' }),
    bad: [
      ['text', /a message, or some of its fields/],
      [[], /it returned a list/],
      [{ content: 7 }, /content is a string or null/],
      [{ silent: 'yes' }, /silent is true or false/],
      [{ metadata: [] }, /metadata is an object/],
      [{ metadata: { at: new Date() } }, /metadata\.at is an instance of Date/],
      [{ role: 'tool' }, /may be user, assistant, system, not "tool"/],
      [{ attachments: 'file' }, /attachments are a list/],
      [{ attachments: ['/nowhere.txt'] }, /no file "\/nowhere.txt"/],
    ],
  },
  {
    name: 'before_update_message',
    ask: (hooks) => hooks.messages.beforeUpdate('m1', { content: 'new' }),
    before: { content: 'new' },
    good: { content: 'newer', metadata: { a: null } },
    after: { content: 'newer', metadata: { a: null } },
    bad: [
      [true, /it returned a boolean/],
      [{ content: 7 }, /content is a string or null/],
    ],
  },
  {
    name: 'after_tool_call_success',
    ask: (hooks) => hooks.afterToolCall(CALL, SUCCESS),
    before: SUCCESS,
    good: FAILURE,
    after: FAILURE,
    bad: [
      ['done', /a ToolResult/],
      [{ result: 'r' }, /whose status is 'success' or 'error'/],
    ],
  },
  {
    name: 'after_tool_call_failure',
    ask: (hooks) => hooks.afterToolCall(CALL, FAILURE),
    before: FAILURE,
    good: { status: 'success', result: { recovered: true } },
    after: { status: 'success', result: '{"recovered":true}' },
    bad: [[[], /a ToolResult/]],
  },
  {
    name: 'before_store_tool_result',
    ask: (hooks) => hooks.beforeStoreResult(CALL, SUCCESS),
    before: SUCCESS,
    good: { status: 'success', result: 's' },
    after: { status: 'success', result: 's' },
    bad: [[7, /a ToolResult/]],
  },
];

describe('a chain of hooks', () => {
  it.each(CHAINS)('$name takes the returned value', async ({ name, ask, good, after }) => {
    expect(await ask(await open([hook(name, 'first', () => good)]))).toEqual(after);
    expect(await failures()).toEqual([]);
  });

  it.each(CHAINS)('$name keeps the value if nothing is returned', async ({ name, ask, before }) => {
    const hooks = [
      hook(name, 'nothing', (_state, ...given) => {
        // A hook gets copies: its changes to them have no effect.
        for (const each of given as unknown[]) spoil(each);
      }),
      // Null removes a tool's call; in every other chain it keeps the value.
      ...(name.startsWith('after_tool_call') ? [] : [hook(name, 'nil', () => null)]),
    ];
    expect(await ask(await open(hooks))).toEqual(before);
    expect(await failures()).toEqual([]);
  });

  it.each(CHAINS)(
    '$name continues after a throw with the last valid value',
    async ({ name, ask, good, after }) => {
      const seen: unknown[] = [];
      const hooks = await open([
        hook(name, 'first', () => good),
        hook(name, 'second', (_state, ...given) => {
          seen.push(structuredClone(given.at(-1)));
          for (const each of given as unknown[]) spoil(each);
          throw new Error('boom');
        }),
        hook(name, 'third', (_state, ...given) => void seen.push(given.at(-1))),
      ]);
      expect(await ask(hooks)).toEqual(after);
      expect(seen).toHaveLength(2);
      expect(seen[1]).toEqual(seen[0]);
      expect(await failures()).toEqual([{ id: 'second', hook: name, error: 'boom' }]);
    },
  );

  it.each(
    CHAINS.flatMap(({ name, ask, before, bad }) =>
      bad.map(([returned, words]) => ({ name, ask, before, returned, words })),
    ),
  )('$name rejects $returned as an error that names the expected type', async (row) => {
    const { name, ask, before, returned, words } = row;
    expect(await ask(await open([hook(name, 'wrong', () => returned)]))).toEqual(before);
    expect(await failures()).toEqual([{ id: 'wrong', hook: name, error: expect.stringMatching(words) }]);
  });
});

/** Changes a value in place as far as possible. */
function spoil(value: unknown): void {
  if (Array.isArray(value)) value.push('spoilt');
  else if (typeof value === 'object' && value !== null)
    Object.assign(value, { id: 'spoilt', status: 'spoilt' });
}
