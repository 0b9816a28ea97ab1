/** runtime §9: the queue is durable and in order; payloads that cannot be used are refused visibly. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { waitForIdle } from '../../src/client/wait-for-idle.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, delays, says, scriptedModel } from '../../src/testing/index.ts';
import { message, openThread } from '../contract/thread-driver.ts';
import { eventually, testRuntime, testStore } from '../support/runtime.ts';
import { codeOf } from '../support/tool-work.ts';

const users = (lines: readonly string[]) => lines.filter((line) => line.startsWith('user: '));

describe('runtime §9 Queue and Delivery', () => {
  it('[runtime 9] keeps the order of sending, while busy and while idle', async () => {
    const runtime = await testRuntime({ model: scriptedModel(() => delays(30, says('ok'))) });
    const thread = await runtime.start();
    for (let i = 0; i < 30; i++) await runtime.client.queueMessage(thread, { content: `m${i}` });
    await runtime.client.waitForIdle(thread);
    expect(users(await runtime.transcript(thread))).toEqual(
      Array.from({ length: 30 }, (_, i) => `user: m${i}`),
    );
  });

  it('[runtime 9] a message that arrives while a tool runs is in the next model request', async () => {
    const gate = Promise.withResolvers<void>();
    const wait = defineTool({
      description: 'waits',
      execute: async () => {
        await gate.promise;
        return { status: 'success', result: 'waited' };
      },
    });
    const model = scriptedModel([calls('wait', {}), says('both')]);
    const runtime = await testRuntime({ model, tools: { wait } });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'one' }],
    });
    await eventually('the tool runs', async () =>
      (await runtime.store.events.read(threadId, 0)).some((event) => event.type === 'tool.started'),
    );
    await runtime.client.queueMessage(threadId, { content: 'two' });
    await eventually('it waits', async () =>
      (await runtime.messages(threadId)).some(({ status }) => status === 'pending'),
    );
    gate.resolve();
    await runtime.client.waitForIdle(threadId);
    // In the request the result directly follows its call, although the message arrived first.
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'user',
    ]);
  });

  it('[runtime 9] queued items survive the death of every worker', async () => {
    const model = scriptedModel([says('there you are')]);
    const runtime = await testRuntime({ model });
    const thread = await runtime.start();
    await runtime.stopWorker();
    await runtime.client.queueMessage(thread, { content: 'anybody?' });
    const revived = await testRuntime({ model, store: runtime.store, taskQueue: runtime.taskQueue });
    await eventually('it is answered', async () =>
      (await revived.transcript(thread)).includes('assistant: there you are'),
    );
  });

  it('[runtime 9] a queued item keeps an idle thread from being idle, even if no workflow answers', async () => {
    const store = await testStore();
    const thread = await openThread(store);
    const handle = { query: () => Promise.reject(new Error('the worker is too busy')) } as never;
    const wait = {
      store,
      handle,
      threadId: thread.id,
      sent: { ids: new Set<string>(), words: new Set<string>(), signalled: false },
      timeoutMs: 100,
    };
    expect(await waitForIdle(wait)).toMatchObject({ status: 'idle' });
    await store.queue.add(thread.id, message('a'));
    await expect(waitForIdle(wait)).rejects.toMatchObject({ code: 'Timeout' });
    await thread.begin();
    await thread.rest('idle');
    expect(await waitForIdle(wait)).toMatchObject({ status: 'idle' });
  });

  it('deduplicates messages by id', async () => {
    const runtime = await testRuntime({ model: scriptedModel(() => says('ok')) });
    const thread = await runtime.start();
    for (let i = 0; i < 3; i++)
      await runtime.client.queueMessage(thread, { id: 'only-once', content: 'hello' });
    await runtime.client.sendMessage(thread, { id: 'only-once', content: 'hello' });
    await runtime.client.waitForIdle(thread);
    expect(users(await runtime.transcript(thread))).toEqual(['user: hello']);
  });

  it('stores large content first and returns it complete', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('long'), says('longer')]) });
    const first = 'ä'.repeat(40_000);
    const second = 'b'.repeat(100_000);
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: first }],
    });
    await runtime.client.waitForIdle(threadId);
    await runtime.say(threadId, second);
    const contents = (await runtime.messages(threadId))
      .filter(({ role }) => role === 'user')
      .map(({ content }) => content);
    expect(contents).toEqual([first, second]);
  });

  it('[runtime 9] a tool with large arguments is queued in order, and an invalid one is refused by the client', async () => {
    const model = scriptedModel([says('hello'), says('counted')]);
    const count = defineTool({
      description: 'counts',
      args: z.object({ text: z.string() }),
      execute: (_state, { text }) => ({ status: 'success', result: String(text.length) }),
    });
    const runtime = await testRuntime({ model, tools: { count } });
    const { client } = runtime;
    const thread = await runtime.start('hi');
    const call = { id: 'large', name: 'count', arguments: { text: 'ä'.repeat(20_000) } };
    await client.queueTool(thread, call);
    await client.queueTool(thread, call);
    await client.waitForIdle(thread);
    expect((await runtime.transcript(thread)).slice(-3)).toEqual([
      'assistant:  -> count',
      'tool count success: 20000',
      'assistant: counted',
    ]);
    const strange = { n: 1n } as never;
    const message = { content: 'x' };
    const refused: readonly (readonly [code: string, command: () => Promise<unknown>])[] = [
      ['InvalidValue', () => client.queueTool(thread, { name: 'count', arguments: strange })],
      ['InvalidValue', () => client.queueTool(thread, { name: 'count', arguments: [] as never })],
      [
        'LimitExceeded',
        () => client.queueTool(thread, { name: 'count', arguments: { text: 'x'.repeat(5e6) } }),
      ],
      ['InvalidMessage', () => client.queueTool(thread, { name: '' })],
      ['InvalidMessage', () => client.queueTool(thread, { name: 'count', id: 'a b' })],
      ['InvalidValue', () => client.queueMessage(thread, { ...message, metadata: strange })],
      ['InvalidValue', () => client.sendMessage(thread, { ...message, metadata: { at: new Date(0) } })],
      ['InvalidMessage', () => client.queueMessage(thread, { ...message, silent: 'yes' as never })],
      ['InvalidMessage', () => client.queueMessage(thread, 'x' as never)],
      ['InvalidValue', () => client.startThread({ agent: 'helper', arguments: strange })],
      ['LimitExceeded', () => client.startThread({ agent: 'helper', arguments: { text: 'x'.repeat(2e6) } })],
      ['InvalidStart', () => client.startThread({ agent: '' })],
      ['InvalidStart', () => client.startThread({ agent: 'helper', userId: 5 as never })],
      ['InvalidStart', () => client.startThread({ agent: 'helper', messages: Array(101).fill(message) })],
      ['InvalidValue', () => client.getMessages(thread, { limit: '5' as never })],
      ['InvalidValue', () => client.getLogs(thread, { order: 'up' as never })],
      ['InvalidValue', () => client.listThreads({ limit: -1 })],
      ['InvalidValue', async () => client.events(thread, { after: '5' as never })],
      ['InvalidValue', () => client.values(thread).list({ after: 5 as never })],
    ];
    const codes = await Promise.all(refused.map(([, command]) => codeOf(command)));
    expect(codes).toEqual(refused.map(([code]) => code));
    const rejected = (await runtime.store.events.read(thread, 0)).filter(
      ({ type }) => type === 'item.rejected',
    );
    expect(rejected).toEqual([]);
  });

  it('drops a malformed signal, with a visible event', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('still here')]) });
    const thread = await runtime.start();
    const handle = runtime.client.temporal.workflow.getHandle(`thread/${thread}`);
    const bad: unknown[] = [
      'text',
      7,
      null,
      {},
      { content: '' },
      { content: 'x', role: 'king' },
      { content: 'x', id: 'a b' },
    ];
    for (const payload of bad) await handle.signal('queueMessage', payload);
    await handle.signal('queueMessage', { id: 'big', content: 'x'.repeat(33 * 1024) });
    await handle.signal('queueTool', { arguments: {} });
    await handle.signal('stop', 'what?');
    const rejected = await eventually('every refusal is an event', async () => {
      const events = (await runtime.store.events.read(thread, 0)).filter(
        (event) => event.type === 'item.rejected',
      );
      return events.length === bad.length + 2 && events;
    });
    expect(rejected.find(({ data }) => data.id === 'big')?.data).toMatchObject({ code: 'MessageTooLarge' });
    await runtime.say(thread, 'alive?');
    expect(users(await runtime.transcript(thread))).toEqual(['user: alive?']);
  });

  it('sendMessage answers with the id, and refuses an invalid message with a code', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('ok')]) });
    const thread = await runtime.start();
    expect(await runtime.client.sendMessage(thread, { id: 'mine', content: 'hello' })).toEqual({
      id: 'mine',
    });
    await runtime.client.waitForIdle(thread);
    const handle = runtime.client.temporal.workflow.getHandle(`thread/${thread}`);
    await expect(handle.executeUpdate('sendMessage', { args: [{ content: '' }] })).rejects.toMatchObject({
      cause: { type: 'InvalidMessage' },
    });
    await expect(runtime.client.sendMessage('no-such-thread', { content: 'x' })).rejects.toMatchObject({
      code: 'ThreadNotFound',
    });
  });

  it('an invalid start fails the workflow with InvalidStart', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const { workflow } = runtime.client.temporal;
    const start = (workflowId: string, input: unknown) =>
      workflow.execute('thread', { workflowId, taskQueue: runtime.taskQueue, args: [input] });
    const invalid = { cause: { type: 'InvalidStart' } };
    await expect(start('wrong-prefix', { agent: 'helper' })).rejects.toMatchObject(invalid);
    await expect(start(`thread/${crypto.randomUUID()}`, {})).rejects.toMatchObject(invalid);
    await expect(
      start(`thread/${crypto.randomUUID()}`, { agent: 'helper', threadId: 'another' }),
    ).rejects.toMatchObject(invalid);
  });
});
