/** runtime §1-2: what starts an execution, and what an execution guarantees. */
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { eventually, testRuntime } from '../support/runtime.ts';
import { toolOf } from '../support/tool-work.ts';

const ping = defineTool({
  description: 'answers',
  quick: true,
  execute: () => ({ status: 'success', result: 'pong' }),
});

describe('runtime §1-2 Invocation', () => {
  it('[runtime 2] a message given at the start starts an execution', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('hello')]) });
    const thread = await runtime.start('hi');
    expect(await runtime.transcript(thread)).toEqual(['user: hi', 'assistant: hello']);
  });

  it('[runtime 2] a thread started without a message waits', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const thread = await runtime.start();
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'idle', lastStep: 0 });
  });

  it('[runtime 2] a queued message starts an execution of an idle thread', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('hello'), says('again')]) });
    const thread = await runtime.start('hi');
    await runtime.say(thread, 'and now?');
    expect(await runtime.transcript(thread)).toEqual([
      'user: hi',
      'assistant: hello',
      'user: and now?',
      'assistant: again',
    ]);
  });

  it('[runtime 2] with one AI side an assistant message or an injected one is stored and not answered', async () => {
    const inject = toolOf((state) => state.injectMessage({ role: 'user', content: 'a note of code' }));
    const model = scriptedModel([calls('inject'), says('done'), says('so I see')]);
    const runtime = await testRuntime({ model, tools: { inject } });
    const thread = await runtime.start('go');
    await runtime.client.queueMessage(thread, { role: 'assistant', content: 'a note' });
    await eventually(
      'the note is in the history',
      async () => (await runtime.transcript(thread)).at(-1) === 'assistant: a note',
    );
    await runtime.client.waitForIdle(thread);
    expect(model.requests).toHaveLength(2);
    await runtime.say(thread, 'and?');
    const read = JSON.stringify(model.requests.at(-1)?.messages);
    for (const note of ['a note of code', 'a note']) expect(read).toContain(`"${note}"`);
  });

  it('[runtime 2] a queued tool starts an execution: call, result, then a model step', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('it said pong')]), tools: { ping } });
    const thread = await runtime.start();
    await runtime.client.queueTool(thread, { name: 'ping' });
    await runtime.client.waitForIdle(thread);
    const [call, ...rest] = await runtime.messages(thread);
    expect(call).toMatchObject({ role: 'assistant', metadata: { queuedTool: true } });
    expect(rest.map(({ role, content }) => [role, content])).toEqual([
      ['tool', 'pong'],
      ['assistant', 'it said pong'],
    ]);
  });

  it('[runtime 2] a tool queued by signal must be one that the active prompt offers', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('no such tool')]), tools: { ping } });
    const thread = await runtime.start();
    await runtime.client.queueTool(thread, { name: 'pong' });
    await runtime.client.waitForIdle(thread);
    expect((await runtime.transcript(thread))[1]).toBe(
      'tool pong error: Failed to execute tool: Tool not found: pong',
    );
  });

  it('[runtime 2] work that arrives during an execution is queued, listed as pending, and taken next', async () => {
    const gate = Promise.withResolvers<void>();
    const first = async () => {
      await gate.promise;
      return says('first');
    };
    const runtime = await testRuntime({ model: scriptedModel([first, says('second')]) });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'one' }],
    });
    await eventually(
      'the thread runs',
      async () => (await runtime.store.threads.get(threadId))?.status === 'running',
    );
    await runtime.client.queueMessage(threadId, { id: 'two', content: 'two' });
    const pending = await eventually('the message is listed as pending', async () =>
      (await runtime.messages(threadId)).find((message) => message.status === 'pending'),
    );
    expect(pending).toMatchObject({ id: 'two', role: 'user', content: 'two', metadata: { queued: true } });
    gate.resolve();
    await runtime.client.waitForIdle(threadId);
    expect(await runtime.transcript(threadId)).toEqual([
      'user: one',
      'assistant: first',
      'user: two',
      'assistant: second',
    ]);
  });

  it('[runtime 1] never executes two steps of one thread at once', async () => {
    let running = 0;
    let most = 0;
    const model = scriptedModel(async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running -= 1;
      return says('ok');
    });
    const runtime = await testRuntime({ model });
    const thread = await runtime.start();
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => runtime.client.queueMessage(thread, { content: `m${i}` })),
    );
    await runtime.client.waitForIdle(thread);
    expect(most).toBe(1);
    const users = (await runtime.messages(thread)).filter(({ role }) => role === 'user');
    expect(users).toHaveLength(20);
  });

  it('[runtime 11] threads execute concurrently', async () => {
    let running = 0;
    const both = Promise.withResolvers<void>();
    const model = scriptedModel(async () => {
      running += 1;
      if (running === 2) both.resolve();
      await both.promise;
      return says('together');
    });
    const runtime = await testRuntime({ model });
    const threads = await Promise.all([runtime.start('a'), runtime.start('b')]);
    expect(new Set(threads).size).toBe(2);
  });

  it('[definitions 14.6] a tool queued by a tool runs before the next model step', async () => {
    const chain = defineTool({
      description: 'queues ping',
      execute: (state) => {
        state.queueTool('ping', {});
        return { status: 'success', result: 'queued it' };
      },
    });
    const model = scriptedModel([calls('chain', {}), says('both ran')]);
    const runtime = await testRuntime({ model, tools: { chain, ping } });
    const thread = await runtime.start('go');
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant:  -> chain',
      'tool chain success: queued it',
      'assistant:  -> ping',
      'tool ping success: pong',
      'assistant: both ran',
    ]);
  });
});
