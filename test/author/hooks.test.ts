/** The hook runner (definitions §9): which hooks run, on which values, and what happens to those that misbehave. */
import { describe, expect, it } from '@jest/globals';
import { isHookBlocked } from '../../src/author/hooks/assembly-hooks.ts';
import { isHookAborted } from '../../src/author/hooks/chain.ts';
import { NO_HOOKS } from '../../src/author/hooks/message-hook-port.ts';
import { messageHooksOf } from '../../src/author/hooks/runner.ts';
import { openScratch } from '../../src/author/tool/scratch.ts';
import { HOOK_NAMES } from '../../src/core/author/hook.ts';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import type { Message } from '../../src/core/message/message.ts';
import {
  type Body,
  CALL,
  contextMessage,
  draft,
  FAILURE,
  failures,
  hook,
  type Options,
  open,
  SUCCESS,
  store,
  stored,
  thread,
} from './hook-runner.ts';

describe('the selection of hooks', () => {
  const note = (id: string) => hook('after_system_message', id, (_state, text) => `${text}${id}`);
  const ask = async (options: Options) => {
    const hooks = await open(['a', 'b', 'c'].map(note), options);
    return hooks.request('e').system ? hooks.request('e').system?.('') : 'no hook';
  };

  it.each<[string, Options, string]>([
    ['those of the agent, in the order in which it lists them', { agent: ['c', 'a'] }, 'ca'],
    ["those of the prompt take the place of the agent's", { agent: ['a', 'b'], prompt: ['c'] }, 'c'],
    ['an empty list of the prompt falls through to the agent', { agent: ['b'], prompt: [] }, 'b'],
    ['none that nobody lists', { agent: [] }, 'no hook'],
  ])('%s', async (_, options, result) => {
    expect(await ask(options)).toBe(result);
  });

  it('each hook name has a runner, and each hook runs at its own point only', async () => {
    const ran: string[] = [];
    const hooks = await open(HOOK_NAMES.map((name) => hook(name, name, () => void ran.push(name))));
    const request = hooks.request('e');
    await hooks.threadCreated();
    await hooks.afterSubagentCreated({} as ThreadState);
    await request.system?.('');
    await request.messages?.([]);
    await request.history?.([]);
    await hooks.beforeRow(draft());
    await hooks.messages.afterCreate(stored());
    await hooks.messages.beforeUpdate('m1', {});
    await hooks.messages.afterUpdate(stored());
    await hooks.afterToolCall(CALL, SUCCESS);
    await hooks.afterToolCall(CALL, FAILURE);
    await hooks.beforeStoreResult(CALL, SUCCESS);
    await hooks.beforeToolCall(CALL, {});
    await request.compacted?.({ key: 'k', count: 1, summary: 's', messageId: 'm1', prompt: 'main' });
    await hooks.agentEnded({ key: 'k', executionId: 'e', status: 'idle', reason: 'final', text: null });
    expect(ran).toEqual([...HOOK_NAMES]);
  });

  it('a project without message hooks gets none', async () => {
    expect(messageHooksOf(await open([note('a')]))).toBe(NO_HOOKS);
  });
});

describe('the arguments of hooks', () => {
  it('filter_messages gets messages as readers do; hidden fields are restored by id', async () => {
    const seen: object[] = [];
    const hooks = await open([
      hook('filter_messages', 'first', (_state, messages: Message[]) => {
        seen.push(...messages);
        return [
          { ...messages[1], content: 'changed' },
          { id: 'new', role: 'system', content: 'made up' },
        ];
      }),
    ]);
    const given = [contextMessage('m1'), contextMessage('m2')];
    expect(await hooks.request('execution-1').messages?.(given)).toEqual([
      contextMessage('m2', { content: 'changed' }),
      {
        ...stored({ id: 'new', role: 'system', content: 'made up', created_at: 0 }),
        executionId: 'execution-1',
        step: null,
      },
    ]);
    expect(seen).toEqual([stored({ id: 'm1' }), stored({ id: 'm2' })]);
  });

  it('before_update_message gets the id, and after_subagent_created the child itself', async () => {
    const seen: unknown[] = [];
    const child = { threadId: 'child' } as ThreadState;
    const hooks = await open([
      hook('before_update_message', 'update', (_state, ...given) => void seen.push(...given)),
      hook('after_subagent_created', 'subagent', (_state, given) => void seen.push(given === child)),
    ]);
    await hooks.messages.beforeUpdate('m1', { silent: true });
    await hooks.afterSubagentCreated(child);
    expect(seen).toEqual(['m1', { silent: true }, true]);
  });

  it('include one ThreadState for all hooks, created by the first, with the surrounding flow', async () => {
    const states: ThreadState[] = [];
    const scratch = openScratch({ n: 1 });
    let asked = 0;
    const execution = async () => {
      asked += 1;
      const place = {
        executionId: 'e1',
        step: 3,
        stepCount: 2,
        sideSteps: { a: 2, b: 0 },
        side: 'a' as const,
        subprompt: null,
        runContext: null,
        history: [],
      };
      return { ...place, flow: scratch.flow };
    };
    const hooks = await open(
      [
        hook('after_system_message', 'first', (state) => {
          states.push(state);
          state.context.n = 2;
          state.execution?.forceTurn('b');
        }),
        hook('before_store_tool_result', 'second', (state) => {
          states.push(state);
          throw new Error(`${state.context.n}`);
        }),
      ],
      { execution },
    );
    expect(asked).toBe(0);
    await hooks.request('e1').system?.('');
    await hooks.beforeStoreResult(CALL, SUCCESS);
    expect(asked).toBe(1);
    expect(states[0]).toBe(states[1]);
    expect(states[0]?.execution).toMatchObject({ flowId: 'e1', stepCount: 2, promptPath: ['main'] });
    expect(scratch.flow).toEqual({ directive: 'b', scratch: { n: 2 } });
    expect(await thread.events('hook.failed')).toMatchObject([{ step: 3, data: { error: '2' } }]);
  });

  it('allow writes that run no hooks again', async () => {
    let ran = 0;
    const hooks = await open([
      hook('before_create_message', 'inject', async (state) => {
        ran += 1;
        await state.injectMessage({ role: 'system', content: `note ${ran}` });
      }),
    ]);
    await hooks.beforeRow(draft());
    expect(ran).toBe(1);
    expect(await thread.transcript()).toEqual(['system: note 1']);
  });
});

describe('null of after_tool_call_*', () => {
  it.each([
    ['after_tool_call_success', SUCCESS],
    ['after_tool_call_failure', FAILURE],
  ] as const)('%s: removes the call, and skips the rest of the kind', async (name, result) => {
    let ran = false;
    const hooks = await open([
      hook(name, 'remove', () => null),
      hook(name, 'rest', () => {
        ran = true;
      }),
    ]);
    expect(await hooks.afterToolCall(CALL, result)).toBeNull();
    expect(ran).toBe(false);
  });
});

describe('a misbehaving hook', () => {
  it('is abandoned after its timeout, and the chain continues', async () => {
    const hooks = await open(
      [
        hook('after_system_message', 'slow', () => new Promise(() => undefined)),
        hook('after_system_message', 'next', (_state, text) => `${text}!`),
      ],
      { hookMs: 20 },
    );
    expect(await hooks.request('e').system?.('S')).toBe('S!');
    expect(await failures()).toEqual([
      {
        id: 'slow',
        hook: 'after_system_message',
        error: 'The hook "slow" did not answer within 20 ms.',
      },
    ]);
  });

  it('is aborted with the surrounding work, without a failure', async () => {
    const abort = new AbortController();
    const hooks = await open([hook('after_system_message', 'slow', () => new Promise(() => undefined))], {
      signal: abort.signal,
    });
    const asked = hooks.request('e').system?.('S');
    abort.abort(new Error('stopped'));
    await expect(asked).rejects.toMatchObject({ name: 'HookAborted' });
    expect(await asked?.catch(isHookAborted)).toBe(true);
    expect(await failures()).toEqual([]);
  });

  it('may throw anything', async () => {
    const thrown: unknown[] = ['text', undefined, { code: 7 }, Object.assign(new Error('e'), { code: 1 })];
    const hooks = await open(
      thrown.map((each, n) =>
        hook('after_create_message', `h${n}`, () => {
          throw each;
        }),
      ),
    );
    await hooks.messages.afterCreate(stored());
    expect((await failures()).map(({ error }) => error)).toEqual([
      'text',
      'No reason was given (undefined was thrown).',
      '{"code":7}',
      'e',
    ]);
  });

  it('is reported in at most a thousand characters, with secrets redacted', async () => {
    const hooks = await open([
      hook('after_create_message', 'leak', async (state) => {
        throw new Error(`${await state.env('TOKEN')}${'x'.repeat(5000)}`);
      }),
    ]);
    await store.env.set({
      owner: { thread: thread.id },
      name: 'TOKEN',
      value: 'hunter2-secret',
      type: 'secret',
    });
    await hooks.messages.afterCreate(stored());
    const [{ error } = {}] = await failures();
    expect(error).toMatch(/^\[secret TOKEN\]x+$/);
    expect(error).toHaveLength(1000);
  });

  it('does no further harm if its failure cannot be reported', async () => {
    const hooks = await open([
      hook('after_create_message', 'end', async () => {
        await store.threads.terminate(thread.id);
        throw new Error('boom');
      }),
    ]);
    await hooks.messages.afterCreate(stored());
    expect(await failures()).toEqual([]);
  });

  it.each<[string, Body, string]>([
    [
      'a throw',
      () => {
        throw new Error('no');
      },
      'no',
    ],
    [
      'a bad return',
      () => 7,
      'It must return a message, or some of its fields, or nothing; it returned a number.',
    ],
  ])('rejects injectMessage by %s, and skips the rest of the chain', async (_, body, message) => {
    let ran = false;
    const hooks = await open([
      hook('before_create_message', 'refuse', body),
      hook('before_create_message', 'rest', () => {
        ran = true;
      }),
    ]);
    await expect(hooks.messages.beforeCreate(draft())).rejects.toThrow(message);
    expect(ran).toBe(false);
  });
});

describe('prefilter_llm_history', () => {
  const refuse = (error: unknown) =>
    hook('prefilter_llm_history', 'guard', () => {
      throw error;
    });
  const ask = async (error: unknown) => (await open([refuse(error)])).request('e').history?.([]);

  it.each<[string, unknown]>([
    ['an error', Object.assign(new Error('not this'), { block: true })],
    ['an object', { block: true, message: 'not this' }],
  ])('refuses the request by %s with block: true, without a failure', async (_, error) => {
    const thrown = await ask(error)?.catch((each: unknown) => each);
    expect(isHookBlocked(thrown)).toBe(true);
    expect(thrown).toMatchObject({ message: 'not this', hookId: 'guard' });
    expect(await failures()).toEqual([]);
  });

  it.each([{ block: 1 }, { block: false }, new Error('block')])('does not refuse it by %j', async (error) => {
    expect(await ask(error)).toEqual([]);
    expect(await failures()).toHaveLength(1);
  });
});
