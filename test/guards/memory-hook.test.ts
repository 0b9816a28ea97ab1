/** `memoryHook` (docs/hooks.md): recalls question and answer of a past execution that the request no longer shows. */
import { describe, expect, it } from '@jest/globals';
import type { HookDefinition } from '../../src/core/author/hook.ts';
import { LIMITS } from '../../src/core/value/limit.ts';
import { defineHook, memoryHook } from '../../src/definitions/index.ts';
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
  it('[AX-105] recalls before a question what fits it, once, and behind the hooks of authors', async () => {
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

  it('[AX-111] leaves out what the request shows anyway, and keeps one note of a question, the newest answer', async () => {
    const model = scriptedModel([says('red'), says('blue'), says('done')]);
    const hooks = [memoryHook('remember', { notes: 2 }), memoryHook('recall')] as HookDefinition[];
    const runtime = await hookRuntime({ model, hooks });
    const thread = await runtime.start('Which colour?');
    await runtime.say(thread, 'Which colour?');
    await runtime.say(thread, 'And which colour now?');
    for (const request of model.requests) expect(JSON.stringify(shown(request))).not.toContain('[memory]');
    const notes = await runtime.store.values.get(thread, 'everthread.memory');
    expect(notes).toEqual([
      { asked: 'Which colour?', answered: 'blue' },
      { asked: 'And which colour now?', answered: 'done' },
    ]);
  });

  it('[AX-105] recalls across the threads of a user, within the organisation, and of nobody else', async () => {
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

  it('keeps what fits into a value, the newest, in any script', async () => {
    const long = '\u8a18'.repeat(500);
    let kept: unknown[] = Array.from({ length: 99 }, (_, index) => ({
      asked: `${index} ${long}`,
      answered: long,
    }));
    const hook = memoryHook('remember') as HookDefinition<'on_agent_end'>;
    const state = {
      getMessages: async () => ({ messages: [{ role: 'user', content: 'the newest', metadata: {} }] }),
      getValue: async () => kept,
      setValue: async (_key: string, value: unknown[]) => {
        kept = value;
      },
    };
    await hook.execute(state as never, { status: 'idle', text: long } as never);
    expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThan(LIMITS.valueBytes);
    expect(kept.length).toBeGreaterThan(50);
    expect(kept.at(-1)).toEqual({ asked: 'the newest', answered: long });
  });

  it('[AX-105] goes on with its own notes where those of others cannot be read', async () => {
    const hook = memoryHook('recall') as HookDefinition<'prefilter_llm_history'>;
    const state = {
      getValue: async () => [{ asked: 'the flowerpot', answered: 'hides a key' }],
      getUserValues: async () => {
        throw new Error('the store is away');
      },
    };
    const history = [{ role: 'user', content: 'And the flowerpot?' }] as const;
    const given = await hook.execute(state as never, history as never);
    expect(JSON.stringify(given)).toContain('hides a key');
  });
});
