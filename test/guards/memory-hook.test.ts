/** `memoryHook` (docs/hooks.md): recalls question and answer of a past execution that the request no longer shows. */
import { describe, expect, it } from '@jest/globals';
import type { HookDefinition } from '../../src/core/author/hook.ts';
import { defineHook, memoryHook } from '../../src/definitions/index.ts';
import { generateKey } from '../../src/store/crypto/encryption.ts';
import { type RecordedRequest, says, scriptedModel } from '../../src/testing/index.ts';
import { hookFailures, hookRuntime } from '../support/hook-project.ts';

/** A hook that leaves only the newest message in a request. */
const newest = defineHook({
  hook: 'filter_messages',
  id: 'newest',
  execute: (_state, messages) => messages.slice(-1),
}) as HookDefinition;

const shown = (request: RecordedRequest | undefined) =>
  (request?.messages ?? []).flatMap(({ role, content }) => (role === 'system' ? [] : [content]));

const NOTE = '- Asked: The key is under the flowerpot.\n  Answered: I shall remember.';

describe('memory', () => {
  it('[AX-105] recalls matching notes before a question, once, after the hooks of authors', async () => {
    const model = scriptedModel([
      says('I shall remember.'),
      says('It is sunny.'),
      says('Under the flowerpot.'),
    ]);
    const hooks = [memoryHook('recall'), memoryHook('remember'), newest] as HookDefinition[];
    const runtime = await hookRuntime({ model, hooks });
    const thread = await runtime.start('The key is under the flowerpot.');
    await runtime.say(thread, 'What about the weather?');
    await runtime.say(thread, 'Where did I put that key, the flowerpot?');
    expect(shown(model.requests[1])).toEqual(['What about the weather?']);
    expect(shown(model.requests[2])).toEqual([
      `[memory] Earlier in this conversation:\n${NOTE}`,
      'Where did I put that key, the flowerpot?',
    ]);
    expect(await hookFailures(runtime, thread)).toEqual([]);
  });

  it('[AX-111] omits notes already in the request, and keeps one note per question, with the newest answer', async () => {
    const model = scriptedModel([says('red'), says('blue'), says('done')]);
    const hooks = [memoryHook('remember', { notes: 2 }), memoryHook('recall')] as HookDefinition[];
    const runtime = await hookRuntime({ model, hooks });
    const thread = await runtime.start('Which colour?');
    await runtime.say(thread, 'Which colour?');
    await runtime.say(thread, 'And which colour now?');
    for (const request of model.requests) expect(JSON.stringify(shown(request))).not.toContain('[memory]');
    expect(await runtime.store.memory.recall(thread, { within: 'thread' })).toEqual([
      { asked: 'And which colour now?', answered: 'done', own: true },
      { asked: 'Which colour?', answered: 'blue', own: true },
    ]);
  });

  it('[AX-105] recalls across the threads of a user, within the organisation, and of no other user', async () => {
    const model = scriptedModel(({ messages }) => says(`Heard: ${messages.at(-1)?.content}`));
    const hooks = [memoryHook('recall'), memoryHook('remember')] as HookDefinition[];
    const runtime = await hookRuntime({ model, hooks });
    const ask = async (content: string, whose: { userId?: string; organizationId?: string } = {}) => {
      const { userId, organizationId } = whose;
      const context = organizationId === undefined ? {} : { context: { organizationId } };
      const messages = [{ content }];
      const { threadId } = await runtime.client.startThread({
        agent: 'helper',
        userId,
        messages,
        ...context,
      });
      await runtime.client.waitForIdle(threadId);
      expect(await hookFailures(runtime, threadId)).toEqual([]);
      return JSON.stringify(shown(model.requests.at(-1)));
    };
    await ask('The flowerpot hides a key.', { userId: 'ada', organizationId: 'acme' });
    const question = 'What about the flowerpot?';
    for (const whose of [
      {},
      { userId: 'bob', organizationId: 'acme' },
      { userId: 'ada' },
      { userId: 'ada', organizationId: 'other' },
    ])
      expect(await ask(question, whose)).not.toContain('hides a key');
    const recalled = await ask(question, { userId: 'ada', organizationId: 'acme' });
    expect(recalled).toContain('[memory] From earlier conversations:');
    expect(recalled).toContain('- Asked: The flowerpot hides a key.');
  });

  it('keeps the newest notes of a thread, with secrets of its answers redacted', async () => {
    const model = scriptedModel(({ messages }) => says(`${messages.at(-1)?.content}: s3cret-value`));
    const hooks = [memoryHook('remember', { notes: 2 })] as HookDefinition[];
    process.env.EVERTHREAD_ENCRYPTION_KEYS = generateKey('test');
    const runtime = await hookRuntime({ model, hooks });
    const env = { KEY: { value: 's3cret-value', type: 'secret' } } as const;
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      env,
      messages: [{ content: 'one' }],
    });
    await runtime.client.waitForIdle(threadId);
    await runtime.say(threadId, 'two');
    await runtime.say(threadId, 'three');
    const notes = await runtime.store.memory.recall(threadId, { within: 'thread' });
    expect(notes.map(({ answered }) => answered)).toEqual(['three: [secret KEY]', 'two: [secret KEY]']);
  });

  it('is deleted with the thread of its notes', async () => {
    const hooks = [memoryHook('remember')] as HookDefinition[];
    const runtime = await hookRuntime({ model: scriptedModel(() => says('under the flowerpot')), hooks });
    const started = async (content: string) => {
      const { client } = runtime;
      const { threadId } = await client.startThread({
        agent: 'helper',
        userId: 'ada',
        messages: [{ content }],
      });
      await client.waitForIdle(threadId);
      return threadId;
    };
    const [first, second] = [await started('Where is the key?'), await started('Where is the cat?')];
    expect(await runtime.store.memory.recall(second, { within: 'user' })).toHaveLength(2);
    await runtime.client.deleteThread(first);
    expect(await runtime.store.memory.recall(second, { within: 'user' })).toMatchObject([{ own: true }]);
  });
});
