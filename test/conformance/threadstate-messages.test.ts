/** ThreadState's messages (definitions §14.2, §15.2). */
import { describe, expect, it } from '@jest/globals';
import type { ToolCall } from '../../src/core/message/message.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { eventually, testRuntime } from '../support/runtime.ts';
import { codeOf, toolAnswers, toolOf, work } from '../support/tool-work.ts';

describe('ThreadState: messaging', () => {
  it('[threadstate messaging] queueMessage and queueTool of a body still running after its timeout take effect', async () => {
    let goOn = () => {};
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const dawdle = toolOf(async (state) => {
      await gate;
      await state.queueMessage({ role: 'user', content: 'late' });
      state.queueTool('look', {});
    }, 100);
    const model = scriptedModel((request) => {
      const last = request.messages.at(-1);
      if (last?.content === 'go') return calls('dawdle');
      return says(last?.role === 'tool' ? 'looked' : `heard ${last?.content}`);
    });
    const runtime = await testRuntime({ model, tools: { dawdle, look: toolOf(() => 'seen') } });
    const thread = await runtime.start('go');
    expect(await runtime.transcript(thread)).toHaveLength(4);
    goOn();
    const said = async () => (await runtime.transcript(thread)).slice(4);
    await eventually('both are taken', async () => (await said()).some((line) => line.startsWith('tool ')));
    await runtime.client.waitForIdle(thread);
    expect(await said()).toEqual(expect.arrayContaining(['user: late', 'tool look success: "seen"']));
    expect((await said()).at(-1)).toBe('assistant: looked');
  });

  it('[threadstate messaging] injectMessage stores a message at once, with role, silence and metadata, and starts nothing', async () => {
    const { answers, runtime, threadId } = await work({
      inject: async (state) => {
        const { id, role, silent, metadata, depth, status } = await state.injectMessage({
          role: 'system',
          content: 'noted',
          silent: true,
          metadata: { by: 'test' },
        });
        return [{ role, silent, metadata, depth, status }, (await state.getMessage(id))?.content];
      },
    });
    expect(answers).toEqual([
      [{ role: 'system', silent: true, metadata: { by: 'test' }, depth: 0, status: 'completed' }, 'noted'],
    ]);
    // The message is silent, so the client does not list it by default.
    expect(runtime.worker).toBeDefined();
    const { messages } = await runtime.client.getMessages(threadId);
    expect(messages.map(({ content }) => content)).not.toContain('noted');
  });

  it('[threadstate messaging] updateMessage changes content and silence, merges metadata, and notifies readers', async () => {
    const { answers, runtime, threadId } = await work({
      update: async (state) => {
        const { id } = await state.injectMessage({
          role: 'user',
          content: 'before',
          metadata: { a: 1, b: 2 },
        });
        const updated = await state.updateMessage(id, { content: 'after', metadata: { b: null, c: 3 } });
        const again = await state.updateMessage(id, { content: 'after' });
        return [updated.content, updated.metadata, again.created_at === updated.created_at, updated.silent];
      },
    });
    expect(answers).toEqual([['after', { a: 1, c: 3 }, true, false]]);
    const events = await runtime.store.events.read(threadId, 0);
    // The second update changed nothing, so it logs no event.
    expect(events.filter((event) => event.type === 'message.updated')).toHaveLength(1);
  });

  it('[threadstate messaging] updateMessage refuses an unknown id, and an invalid update', async () => {
    const { answers } = await work({
      update: async (state) => [
        await codeOf(() => state.updateMessage('nobody', { content: 'x' })),
        await codeOf(() => state.updateMessage('nobody', { content: 4 as never })),
        await codeOf(() => state.updateMessage('nobody', null as never)),
        await codeOf(() => state.injectMessage({ role: 'tool' as never, content: 'x' })),
        await codeOf(() => state.injectMessage({ role: 'user', content: 'x', metadata: [] as never })),
      ],
    });
    expect(answers).toEqual([
      ['MessageNotFound', 'InvalidMessage', 'InvalidMessage', 'InvalidMessage', 'InvalidMessage'],
    ]);
  });

  it('[threadstate messaging] deleteMessage removes a message with the results of its calls, and the model no longer gets them', async () => {
    const model = scriptedModel([calls('look'), says('seen'), calls('forget'), says('forgotten')]);
    const runtime = await testRuntime({
      model,
      tools: {
        look: toolOf(() => 'a view'),
        forget: toolOf(async (state) => {
          const { messages } = await state.getMessages();
          const asked = messages.find(({ tool_calls: asks }) => asks?.includes('look'));
          return [await state.deleteMessage(asked?.id ?? ''), await state.deleteMessage('nobody')];
        }),
      },
    });
    const threadId = await runtime.start('look');
    await runtime.say(threadId, 'forget');
    expect(await runtime.transcript(threadId)).toEqual([
      'user: look',
      'assistant: seen',
      'user: forget',
      'assistant:  -> forget',
      'tool forget success: [true,false]',
      'assistant: forgotten',
    ]);
    expect(JSON.stringify(model.requests.at(-1))).not.toContain('a view');
  });

  it('[threadstate messaging] deleteMessage refuses a message whose calls are still open', async () => {
    const { answers } = await work({
      forget: async (state) => {
        const { messages } = await state.getMessages();
        return codeOf(() => state.deleteMessage(messages.at(-1)?.id ?? ''));
      },
    });
    expect(answers).toEqual(['MessageConflict']);
  });

  it('[threadstate messaging] getMessages pages the newest, oldest first, counts them, and includes silent ones on request', async () => {
    const { answers } = await work({
      page: async (state) => {
        for (const n of [1, 2, 3])
          await state.injectMessage({ role: 'system', content: `${n}`, silent: n === 2 });
        const show = async (options: Parameters<typeof state.getMessages>[0]) => {
          const { messages, total, hasMore } = await state.getMessages(options);
          return [messages.map(({ content }) => content), total, hasMore];
        };
        return [
          await show({ limit: 2 }),
          await show({ limit: 2, order: 'desc' }),
          await show({ limit: 3, includeSilent: true }),
          await show({ limit: 1, offset: 1 }),
        ];
      },
    });
    expect(answers).toEqual([
      [
        [['1', '3'], 4, true],
        [['3', '1'], 4, true],
        [['1', '2', '3'], 5, true],
        [['1'], 4, true],
      ],
    ]);
  });

  it('[threadstate queue] queueMessage shows its message as pending until the next step takes it', async () => {
    const { answers, runtime, threadId } = await work({
      queue: async (state) => {
        await state.queueMessage({ content: 'and then?', metadata: { n: 1 } });
        const { messages } = await state.getMessages();
        const { role, content, status, metadata } = messages.at(-1) ?? {};
        return { role, content, status, metadata };
      },
    });
    expect(answers).toEqual([
      { role: 'user', content: 'and then?', status: 'pending', metadata: { n: 1, queued: true } },
    ]);
    expect(await runtime.transcript(threadId)).toEqual([
      'user: go',
      'assistant:  -> queue',
      expect.stringContaining('tool queue success'),
      'user: and then?',
      'assistant: done',
    ]);
  });

  it('[threadstate queue] a queued message can be deleted, and is never injected', async () => {
    const { runtime, threadId } = await work({
      queue: async (state) => {
        await state.queueMessage({ content: 'never mind' });
        const { messages } = await state.getMessages();
        return state.deleteMessage(messages.at(-1)?.id ?? '');
      },
    });
    expect((await runtime.messages(threadId)).map(({ content }) => content)).not.toContain('never mind');
  });

  it('[threadstate messaging] times increase strictly, in microseconds', async () => {
    const { runtime, threadId } = await work({
      inject: async (state) => {
        for (let n = 0; n < 20; n++) await state.injectMessage({ role: 'system', content: `${n}` });
      },
    });
    const times = (await runtime.messages(threadId)).map(({ created_at: at }) => at);
    expect(times).toHaveLength(24);
    for (let n = 1; n < times.length; n++) expect(times[n]).toBeGreaterThan(times[n - 1] as number);
    expect(Math.abs((times[0] as number) - Date.now() * 1000)).toBeLessThan(600_000_000);
  });
});

describe('ThreadState: tools', () => {
  it('[threadstate tools] queueTool runs a tool before the next model step, by name, within uses', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([calls('first'), says('done')]),
      tools: {
        first: toolOf((state) => {
          state.queueTool('second', { from: 'first' });
          return codeOf(() => state.queueTool('missing', {}));
        }),
        second: toolOf(() => 'ran'),
      },
    });
    const threadId = await runtime.start('go');
    expect(await toolAnswers(runtime, threadId)).toEqual(['DefinitionNotFound', 'ran']);
    const asked = (await runtime.messages(threadId)).find(({ metadata }) => metadata.queuedTool === true);
    const [call] = JSON.parse(asked?.tool_calls ?? '[]') as ToolCall[];
    expect(call?.function).toEqual({ name: 'second', arguments: '{"from":"first"}' });
  });

  it('[threadstate tools] invokeTool returns the result, stores no message, and leaves a log entry', async () => {
    const { answers, runtime, threadId } = await work({
      outer: async (state) => [
        await state.invokeTool('inner', {}),
        await state.invokeTool('missing', {}),
        (await state.getLogs()).filter(({ type }) => type === 'tool_invocation').map(({ data }) => data),
      ],
      inner: (state) => state.idempotencyKey !== null,
    });
    expect(answers[0]).toEqual([
      { status: 'success', result: 'true' },
      { status: 'error', error: 'Tool not found: missing' },
      [
        expect.objectContaining({ event: 'tool.invoked', name: 'missing', status: 'error' }),
        expect.objectContaining({ event: 'tool.invoked', name: 'inner', status: 'success' }),
      ],
    ]);
    expect(await toolAnswers(runtime, threadId)).toHaveLength(2);
  });
});
