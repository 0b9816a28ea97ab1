/** defineHook: its fields, and that `execute` has the type of the named hook (checked by `npm run typecheck`). */
import { definitionWarnings } from '../../src/definitions/definition-mark.ts';
import { isDefinition } from '../../src/definitions/index.ts';
import {
  defineHook,
  type HookName,
  type HookSignatures,
  type Message,
  type ThreadState,
  type ToolCall,
  type ToolResult,
} from '../../src/index.ts';
import { problemsOf } from './sample.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const isTrue = <_T extends true>() => undefined;

const execute = async () => undefined;
const hook = (fields: object = {}) =>
  defineHook({ hook: 'after_thread_created', id: 'log_it', execute, ...fields });
const problems = (fields: object) => problemsOf(() => hook(fields));

describe('[definitions 9] defineHook', () => {
  it('is named by its id', () => {
    expect(hook()).toEqual({ kind: 'hook', name: 'log_it', hook: 'after_thread_created', execute });
    expect(isDefinition(hook())).toBe(true);
    expect(Object.isFrozen(hook())).toBe(true);
  });

  it.each<[string, object, string[]]>([
    [
      'an unknown hook',
      { hook: 'filter_message' },
      [
        expect.stringMatching(
          /^hook: must be one of 'after_thread_created', .*Did you mean 'filter_messages'\?$/,
        ),
      ],
    ],
    ['no hook', { hook: undefined }, ['hook: is required']],
    ['no id', { id: undefined }, ['id: is required']],
    ['an empty id', { id: '' }, ['id: must not be empty']],
    ['no execute', { execute: undefined }, ['execute: is required']],
    [
      'an execute that is not a function',
      { execute: 'log' },
      ['execute: must be a function: (state, …) => what the hook may return'],
    ],
    ['a name', { name: 'x' }, ['name: is not a field: write id']],
    ['a typo', { hooks: [] }, ["hooks: is not a field. Did you mean 'hook'?"]],
  ])('refuses %s', (_title, fields, expected) => {
    expect(problems(fields)).toEqual(expected);
  });

  it('has the id in the heading of its error', () => {
    expect(() => hook({ hook: 'x' })).toThrow("defineHook 'log_it':");
  });

  it('advises snake_case ids', () => {
    expect(definitionWarnings(hook({ id: 'Log It' }))).toEqual([
      {
        field: 'id',
        message: 'should be snake_case: lower-case letters, digits and _, starting with a letter',
      },
    ]);
    expect(definitionWarnings(hook())).toEqual([]);
  });
});

describe('[definitions 9] types of a hook', () => {
  it('follow from its name', () => {
    defineHook({
      hook: 'filter_messages',
      id: 'recent',
      execute: (state, messages) => {
        isTrue<Equal<typeof state, ThreadState>>();
        isTrue<Equal<typeof messages, Message[]>>();
        return messages.slice(-5);
      },
    });
    const made = defineHook({
      hook: 'after_tool_call_failure',
      id: 'forget',
      execute: async (_state, call, result) => {
        isTrue<Equal<typeof call, ToolCall>>();
        isTrue<Equal<typeof result, ToolResult>>();
        return null;
      },
    });
    isTrue<Equal<typeof made.execute, HookSignatures['after_tool_call_failure']>>();
    const names: HookName[] = [made.hook];
    expect(names).toEqual(['after_tool_call_failure']);
  });

  it('refuse wrong return types and unknown names', () => {
    defineHook({
      hook: 'after_system_message',
      id: 'shout',
      // @ts-expect-error a system text is a string
      execute: (_state, system) => system.length,
    });
    expect(() =>
      defineHook({
        // @ts-expect-error no such hook
        hook: 'before_everything',
        id: 'x',
        execute,
      }),
    ).toThrow('hook must be one of');
  });
});
