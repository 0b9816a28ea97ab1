/** definitions §9: hooks around messages that a thread stores or changes. */
import { describe, expect, it } from '@jest/globals';
import type { Message } from '../../src/core/message/message.ts';
import { defineEffect, defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { hookFailures, hookRuntime } from '../support/hook-project.ts';
import { eventually } from '../support/runtime.ts';
import { toolOf } from '../support/tool-work.ts';

const ok = defineTool({
  description: 'works',
  execute: async () => ({ status: 'success', result: 'worked' }),
});

describe('definitions §9 rows that a step drains', () => {
  it('[definitions 9] before_create_message determines each row that is stored and sent', async () => {
    const model = scriptedModel([says('ok'), says('ok'), says('ok')]);
    const runtime = await hookRuntime({
      model,
      tools: { ok },
      hooks: {
        before_create_message: [
          (_state, message) => {
            if (message.role === 'user')
              return { ...message, content: `${message.content}!`, id: 'not this' };
            if (message.tool_calls) return { content: 'queued', role: 'user', metadata: { by: 'hook' } };
            return message.content === 'ok' ? { silent: true, metadata: { checked: true } } : undefined;
          },
          (_state, { content }) => ({ content: content && `${content}?` }),
        ],
      },
    });
    const thread = await runtime.start('one');
    await runtime.client.queueTool(thread, { name: 'ok' });
    await runtime.client.waitForIdle(thread);
    expect(await runtime.transcript(thread)).toEqual([
      'user: one!?',
      'assistant: ok?',
      'assistant: queued? -> ok',
      'tool ok success: worked?',
      'assistant: ok?',
    ]);
    expect(model.requests[0]?.messages.at(-1)).toEqual({ role: 'user', content: 'one!?' });
    const [user, answer, queued] = await runtime.messages(thread);
    expect(user?.id).not.toBe('not this');
    expect(answer).toMatchObject({ silent: true, metadata: { checked: true } });
    expect(queued?.metadata).toEqual({ by: 'hook', queuedTool: true });
    await runtime.say(thread, 'two');
  });

  it('[definitions 9] every queued row is seen once, in order; a later one is seen by the next step', async () => {
    const seen: string[] = [];
    const stored: Message[] = [];
    const model = scriptedModel(() => says('ok'));
    const runtime = await hookRuntime({
      model,
      hooks: {
        async before_create_message(state, { role, content, status }) {
          if (role !== 'user') return;
          seen.push(`${content} ${status}`);
          if (content === 'm1') await state.queueMessage({ content: 'meanwhile' });
        },
        after_create_message: (_state, message) => void (message.role === 'user' && stored.push(message)),
      },
    });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: Array.from({ length: 4 }, (_, n) => ({ content: `m${n}` })),
    });
    await runtime.client.waitForIdle(threadId);
    const contents = ['m0', 'm1', 'm2', 'm3', 'meanwhile'];
    expect(seen).toEqual(contents.map((content) => `${content} completed`));
    const users = (await runtime.messages(threadId)).filter(({ role }) => role === 'user');
    expect(users.map(({ content }) => content)).toEqual(contents);
    expect(stored).toEqual(users);
    expect(model.requests[0]?.messages).toHaveLength(5);
    expect(model.requests[1]?.messages).toHaveLength(7);
  });

  it('[definitions 9] a role changed by a hook decides which side is called', async () => {
    const runtime = await hookRuntime({
      model: scriptedModel([]),
      hooks: { before_create_message: () => ({ role: 'assistant' }) },
    });
    const thread = await runtime.start('I say this');
    expect(await runtime.transcript(thread)).toEqual(['assistant: I say this']);
  });

  it('[definitions 9] stored rows are not seen again when the step is retried', async () => {
    const seen: string[] = [];
    let lost = false;
    const runtime = await hookRuntime({
      model: scriptedModel([says('lost'), says('ok')]),
      hooks: {
        before_create_message: (_state, { content }) => void seen.push(`before ${content}`),
        after_create_message: (_state, { content }) => void seen.push(`after ${content}`),
      },
      options: {
        probe(point) {
          if (point !== 'model_answered' || lost) return;
          lost = true;
          throw new Error('the worker is lost here');
        },
      },
    });
    const thread = await runtime.start('go');
    expect(seen).toEqual(['before go', 'after go', 'before ok', 'after ok']);
    expect(await runtime.transcript(thread)).toEqual(['user: go', 'assistant: ok']);
  });

  it('[definitions 9] a stop aborts a hook, and its row stays queued', async () => {
    let ran = 0;
    const runtime = await hookRuntime({
      model: scriptedModel([says('ok')]),
      hooks: {
        before_create_message(_state, { content }) {
          ran += 1;
          return ran === 1 ? new Promise(() => undefined) : { content: `${content}!` };
        },
      },
    });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'one' }],
    });
    await eventually('the hook runs', () => ran === 1);
    await runtime.client.stop(threadId);
    await eventually(
      'it is stopped',
      async () => (await runtime.client.getThread(threadId)).status === 'stopped',
    );
    await runtime.say(threadId, 'two');
    expect(await runtime.transcript(threadId)).toEqual(['user: one!', 'user: two!', 'assistant: ok!']);
    expect(await hookFailures(runtime, threadId)).toEqual([]);
  });

  it('[definitions 9] a tool queued by a hook runs after the step', async () => {
    const runtime = await hookRuntime({
      model: scriptedModel([says('first'), says('second')]),
      tools: { ok },
      hooks: {
        after_create_message(state, { content }) {
          if (content === 'first') state.queueTool('ok', {});
        },
      },
    });
    const thread = await runtime.start('go');
    await eventually('all is said', async () => (await runtime.messages(thread)).length === 5);
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant: first',
      'assistant:  -> ok',
      'tool ok success: worked',
      'assistant: second',
    ]);
  });
});

describe('definitions §9 messages written by code', () => {
  it('[definitions 22.25] before_create_message rejects injectMessage, and nothing is stored', async () => {
    const runtime = await hookRuntime({
      model: scriptedModel([calls('inject'), says('done')]),
      tools: {
        inject: toolOf(async (state) => {
          const refused = await state
            .injectMessage({ role: 'system', content: 'bad' })
            .catch(({ message }: Error) => message);
          const { content } = await state.injectMessage({ role: 'system', content: 'good' });
          return [refused, content];
        }),
      },
      hooks: {
        before_create_message(_state, { role, content }) {
          if (content === 'bad') throw new Error('not this one');
          return role === 'system' ? { content: `${content} enough` } : undefined;
        },
      },
    });
    const thread = await runtime.start('go');
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant:  -> inject',
      'system: good enough',
      'tool inject success: ["not this one","good enough"]',
      'assistant: done',
    ]);
    expect(await hookFailures(runtime, thread)).toEqual(['before_create_message_1: not this one']);
  });

  it('[definitions 9] messages written by effects pass the hooks, which see the effect', async () => {
    const runtime = await hookRuntime({
      model: scriptedModel([calls('plan'), says('done')]),
      tools: { plan: toolOf((state) => state.scheduleEffect('note')) },
      effects: {
        note: defineEffect('notes', async (state) => {
          await state.injectMessage({ role: 'system', content: 'noted' });
        }),
      },
      hooks: {
        before_create_message: (state, { role, content, metadata }) =>
          role === 'system'
            ? { content: `${content} by ${JSON.stringify(metadata)}, at rest: ${state.execution === null}` }
            : undefined,
      },
    });
    const thread = await runtime.start('go');
    const noted = await eventually('it is noted', async () =>
      (await runtime.transcript(thread)).find((line) => line.startsWith('system')),
    );
    expect(noted).toMatch(
      /^system: noted by \{"scheduledEffect":\{"id":".+","name":"note"\}\}, at rest: true$/,
    );
  });

  it('[definitions 9] before_update_message changes the update; after_update_message sees the whole message', async () => {
    const seen: unknown[] = [];
    const runtime = await hookRuntime({
      model: scriptedModel([calls('update'), says('done')]),
      tools: {
        update: toolOf(async (state) => {
          const [first] = (await state.getMessages()).messages;
          return (await state.updateMessage(first?.id ?? '', { content: 'new' })).content;
        }),
      },
      hooks: {
        before_update_message: [
          (_state, _id, { content }) => ({ content: `${content}er`, metadata: { edited: true } }),
          () => {
            throw new Error('passed over');
          },
        ],
        after_update_message: (_state, { content, metadata, role }) =>
          void seen.push({ content, metadata, role }),
      },
    });
    const thread = await runtime.start('old');
    expect((await runtime.transcript(thread))[2]).toBe('tool update success: "newer"');
    expect(seen).toEqual([{ content: 'newer', metadata: { edited: true }, role: 'user' }]);
    expect(await hookFailures(runtime, thread)).toEqual(['before_update_message_2: passed over']);
  });
});

describe('definitions §9 attachments', () => {
  it('[definitions 9] hooks see AttachmentRefs, and may add files of the thread', async () => {
    const seen: unknown[] = [];
    const runtime = await hookRuntime({
      model: scriptedModel([calls('draw'), says('done')]),
      tools: {
        draw: defineTool({
          description: 'draws',
          execute: async () => ({
            status: 'success',
            attachments: [{ name: 'a.txt', mimeType: 'text/plain', data: btoa('drawn') }],
          }),
        }),
      },
      hooks: {
        async before_create_message(state, { role, attachments }) {
          if (role === 'tool') seen.push(attachments);
          if (role !== 'assistant') return undefined;
          await state.writeFile('/note.txt', 'note', 'text/plain');
          return { attachments: ['/note.txt'] };
        },
      },
    });
    const thread = await runtime.start('go');
    const [, asked, drawn] = await runtime.messages(thread);
    expect(seen).toEqual([drawn?.attachments]);
    expect(drawn?.attachments).toMatchObject([
      { type: 'file', name: 'a.txt', mimeType: 'text/plain', size: 5 },
    ]);
    expect(asked?.attachments).toMatchObject([{ type: 'file', path: '/note.txt', size: 4 }]);
  });
});
