/** A message that a hook returns is stored without the secrets that the hook has read (definitions §9, §16). */
import { describe, expect, it } from '@jest/globals';
import type { HookRunner } from '../../src/author/hooks/runner.ts';
import type { HookName } from '../../src/core/author/hook.ts';
import { contextMessage, draft, hook, open, store, thread } from './hook-runner.ts';

const TOKEN = 'hunter2-secret';

const WAYS: [string, HookName, (hooks: HookRunner) => Promise<unknown>][] = [
  ['a row of the execution', 'before_create_message', (hooks) => hooks.beforeRow(draft())],
  [
    'a message that code writes',
    'before_create_message',
    (hooks) => hooks.messages.beforeCreate(draft({ role: 'system' })),
  ],
  [
    'a message that is changed',
    'before_update_message',
    (hooks) => hooks.messages.beforeUpdate('m1', { content: 'hello' }),
  ],
];

describe('the return value of a hook for', () => {
  it.each(WAYS)('%s has the names of secrets instead of their values', async (_what, name, ask) => {
    const leak = hook(name, 'leak', async (state) => {
      const token = await state.env('TOKEN');
      return { content: `${token} of ${btoa(token)}`, metadata: { [token]: [{ token }] } };
    });
    const hooks = await open([leak]);
    await store.env.set({ owner: { thread: thread.id }, name: 'TOKEN', value: TOKEN, type: 'secret' });
    expect(await ask(hooks)).toMatchObject({
      content: '[secret TOKEN] of [secret TOKEN]',
      metadata: { '[secret TOKEN]': [{ token: '[secret TOKEN]' }] },
    });
  });

  it.each<[string, HookName, (hooks: HookRunner) => Promise<unknown> | undefined]>([
    [
      'the system message',
      'after_system_message',
      (hooks) => hooks.request('execution-1').system?.('You help.'),
    ],
    [
      'the messages of a request',
      'filter_messages',
      (hooks) => hooks.request('execution-1').messages?.([contextMessage('m1')]),
    ],
    [
      'the history of a request',
      'prefilter_llm_history',
      (hooks) => hooks.request('execution-1').history?.([{ role: 'user', content: 'hello' }]),
    ],
  ])('%s reaches no model with a secret in it', async (_what, name, ask) => {
    const shapes = {
      after_system_message: (token: string) => `the key is ${token}`,
      filter_messages: (token: string) => [{ id: 'm2', role: 'user', content: `the key is ${token}` }],
      prefilter_llm_history: (token: string) => [{ role: 'user', content: `the key is ${token}` }],
    };
    const shape = shapes[name as keyof typeof shapes];
    const hooks = await open([hook(name, 'leak', async (state) => shape(await state.env('TOKEN')))]);
    await store.env.set({ owner: { thread: thread.id }, name: 'TOKEN', value: TOKEN, type: 'secret' });
    const asked = JSON.stringify(await ask(hooks));
    expect(asked).toContain('the key is [secret TOKEN]');
    expect(asked).not.toContain(TOKEN);
  });

  it('a file added to a message has no secret in its name and description', async () => {
    const leak = hook('before_create_message', 'leak', async (state) => {
      const token = await state.env('TOKEN');
      const data = Buffer.from('x').toString('base64');
      return { attachments: [{ name: `${token}.txt`, mimeType: 'text/plain', data, description: token }] };
    });
    const hooks = await open([leak]);
    await store.env.set({ owner: { thread: thread.id }, name: 'TOKEN', value: TOKEN, type: 'secret' });
    const { attachments } = await hooks.beforeRow(draft());
    expect(attachments).toHaveLength(1);
    expect(JSON.stringify(attachments)).toContain('[secret TOKEN]');
    expect(JSON.stringify(attachments)).not.toContain(TOKEN);
  });
});
