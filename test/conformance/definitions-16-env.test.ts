/** definitions §16 Environment at run time, on real threads: sources, types, setEnv. Secrets: definitions-16-secret. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { type EnvProject, envRuntime, startedThread, toolResults } from '../support/env-project.ts';
import { eventually } from '../support/runtime.ts';

const SECRET = 'swordfish-4711';
const NO_VALUE = /variable "A" has no value/;

/** Calls `tell` once for each message, then answers. */
const tellingModel = () =>
  scriptedModel((request) => (request.messages.at(-1)?.role === 'user' ? calls('tell') : says('told')));

const tell: EnvProject['tools'] = { tell: (state) => state.env('A') };
const declared = [{ name: 'A', type: 'text' as const }];

describe('definitions §16 Environment at run time', () => {
  it('[definitions 16] env reads thread, user, instance, agent, tool entry and prompt, in this order', async () => {
    const runtime = await envRuntime({
      model: tellingModel(),
      tools: tell,
      agent: { env: { A: 'of the agent' }, variables: declared },
      prompt: { env: { A: 'of the prompt' }, tools: [{ name: 'tell', env: { A: 'of the entry' } }] },
    });
    const { client } = runtime;
    const threadId = randomUUID();
    const owners = [{ thread: threadId }, { user: 'ada' }, { instance: true }] as const;
    for (const owner of owners) {
      await client.setEnv(owner, 'A', `of the ${Object.keys(owner)[0]}`, { type: 'text' });
    }
    await client.startThread({ agent: 'helper', threadId, userId: 'ada', messages: [{ content: 'go' }] });
    await client.waitForIdle(threadId);
    for (const owner of owners) {
      expect(await client.unsetEnv(owner, 'A')).toBe(true);
      await runtime.say(threadId, 'again');
    }
    expect(await toolResults(runtime, threadId)).toEqual([
      'of the thread',
      'of the user',
      'of the instance',
      'of the agent',
    ]);
  });

  it('[definitions 16] a value in a tool entry is visible to that tool only, also when a tool invokes it', async () => {
    const model = scriptedModel([calls('look'), calls('tell'), calls('ask'), says('done')]);
    const runtime = await envRuntime({
      model,
      tools: {
        ...tell,
        look: (state) => state.env('A'),
        ask: async (state) => {
          const invoked = await state.invokeTool('tell', {});
          return `${await state.env('A')}, and inside tell: ${invoked.result}`;
        },
      },
      prompt: {
        env: { A: 'of the prompt' },
        variables: declared,
        tools: [{ name: 'tell', env: { A: 'of the entry' } }, 'look', 'ask'],
      },
    });
    expect(await toolResults(runtime, await startedThread(runtime))).toEqual([
      'of the prompt',
      'of the entry',
      'of the prompt, and inside tell: of the entry',
    ]);
  });

  it('[definitions 16] env rejects with the name of a missing variable, and an empty text is a value', async () => {
    const model = scriptedModel([calls('tell'), calls('look'), says('done')]);
    const runtime = await envRuntime({
      model,
      tools: {
        ...tell,
        look: async (state) => {
          const error = await state.env('B').catch((thrown: { code: string; message: string }) => thrown);
          await state.setEnv('B', '');
          return JSON.stringify([error, await state.env('B')]).length > 0 && typeof error === 'object'
            ? `${error.code}; then "${await state.env('B')}"`
            : 'no error';
        },
      },
    });
    const [unset, then] = await toolResults(runtime, await startedThread(runtime));
    expect(unset).toMatch(NO_VALUE);
    expect(then).toBe('MissingVariable; then ""');
  });

  it('[definitions 16] the environment of the process is never read', async () => {
    process.env.A = SECRET;
    try {
      const model = scriptedModel([calls('tell'), says('done')]);
      const runtime = await envRuntime({
        model,
        tools: tell,
        prompt: { prompt: [{ type: 'env', property: 'A' }], tools: ['tell'] },
      });
      const thread = await startedThread(runtime);
      expect((await toolResults(runtime, thread))[0]).toMatch(NO_VALUE);
      expect(JSON.stringify(model.requests)).not.toContain(SECRET);
    } finally {
      delete process.env.A;
    }
  });

  it('[definitions 16] envType is that of the stored value, else the declared one, else secret', async () => {
    const names = ['TEXT', 'SECRET', 'DECLARED', 'UNDECLARED', 'NOWHERE'];
    const model = scriptedModel([calls('types'), says('done')]);
    const runtime = await envRuntime({
      model,
      tools: {
        types: async (state) => (await Promise.all(names.map((name) => state.envType(name)))).join(' '),
      },
      agent: {
        env: { DECLARED: 'x', UNDECLARED: 'x', TEXT: 'x' },
        variables: [
          { name: 'DECLARED', type: 'text' },
          { name: 'TEXT', type: 'secret' },
        ],
      },
    });
    await runtime.client.setEnv({ instance: true }, 'TEXT', 'x', { type: 'text' });
    await runtime.client.setEnv({ instance: true }, 'SECRET', 'x');
    expect(await toolResults(runtime, await startedThread(runtime))).toEqual([
      'text secret text secret secret',
    ]);
  });

  it('[definitions 16] setEnv writes to the thread, keeps the type in effect, and makes new variables secret', async () => {
    const model = scriptedModel([calls('write'), says('done'), calls('tell'), says('done')]);
    const runtime = await envRuntime({
      model,
      agent: { env: { D: 'of the agent' }, variables: [{ name: 'D', type: 'text' }] },
      tools: {
        ...tell,
        write: async (state) => {
          await state.setEnv('A', 'of the tool');
          await state.setEnv('B', 'of this thread');
          await state.setEnv('C', 'plain', { type: 'text' });
          await state.setEnv('D', 'stated');
          await state.setEnv('E', SECRET);
          return (await Promise.all(['A', 'B', 'C', 'D', 'E'].map((name) => state.envType(name)))).join(' ');
        },
      },
    });
    const threadId = randomUUID();
    await runtime.client.setEnv({ thread: threadId }, 'A', 'before', { type: 'text' });
    await runtime.client.setEnv({ instance: true }, 'B', 'of the instance', { type: 'text' });
    await runtime.client.startThread({ agent: 'helper', threadId, messages: [{ content: 'go' }] });
    await runtime.client.waitForIdle(threadId);
    await runtime.say(threadId, 'and now?');
    expect(await toolResults(runtime, threadId)).toEqual(['text text text text secret', 'of the tool']);
    const listed = await runtime.client.listEnv({ thread: threadId });
    expect(listed.map(({ name, type, value }) => [name, type, value])).toEqual([
      ['A', 'text', 'of the tool'],
      ['B', 'text', 'of this thread'],
      ['C', 'text', 'plain'],
      ['D', 'text', 'stated'],
      ['E', 'secret', undefined],
    ]);
    expect((await runtime.client.listEnv({ instance: true })).map(({ value }) => value)).toEqual([
      'of the instance',
    ]);
  });

  it('[definitions 16] setEnv reaches living descendants, except variables that their agent declares scoped', async () => {
    const model = scriptedModel([calls('write'), says('done')]);
    const runtime = await envRuntime({
      model,
      agent: { variables: [{ name: 'SCOPED', scoped: true }] },
      tools: {
        write: async (state) => {
          await state.setEnv('SCOPED', SECRET);
          await state.setEnv('SHARED', SECRET);
          return 'written';
        },
      },
    });
    const threadId = randomUUID();
    const make = async (name: string, parentId: string) => {
      const id = `${name}-${threadId}`;
      await runtime.client.temporal.workflow.start('thread', {
        workflowId: `thread/${id}`,
        taskQueue: runtime.taskQueue,
        args: [{ agent: 'helper', parentId, rootId: threadId }],
      });
      await eventually('the child', () => runtime.store.threads.get(id).then((found) => found !== null));
      return id;
    };
    const child = await make('child', threadId);
    const grandchild = await make('grandchild', child);
    const dead = await make('dead', threadId);
    await runtime.client.terminate(dead);
    await eventually('its end', async () => (await runtime.client.getThread(dead)).terminatedAt !== null);
    await runtime.client.startThread({ agent: 'helper', threadId, messages: [{ content: 'go' }] });
    await runtime.client.waitForIdle(threadId);
    const names = async (thread: string) =>
      (await runtime.client.listEnv({ thread })).map(({ name }) => name);
    expect(await Promise.all([threadId, child, grandchild, dead].map(names))).toEqual([
      ['SCOPED', 'SHARED'],
      ['SHARED'],
      ['SHARED'],
      [],
    ]);
  });
});
