/** runtime §14.1: the durable key-value store of a thread. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '@jest/globals';
import { defineEffect, defineThreadEndpoint } from '../../src/definitions/index.ts';
import { createEndpointHandler } from '../../src/server/index.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { calls, callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { openThread } from '../contract/thread-driver.ts';
import { eventually } from '../support/eventually.ts';
import { hookRegistry } from '../support/hook-project.ts';
import { closeAfterTest, type RuntimeOptions, testRuntime, testStore } from '../support/runtime.ts';
import { toolAnswers, toolOf, type Work } from '../support/tool-work.ts';

const write = toolOf(async (state) => {
  await state.setValue('plan', { steps: ['a', 'b'], done: 0 });
  return 'written';
});
const read = toolOf((state) => state.getValue('plan'));
const PLAN = { steps: ['a', 'b'], done: 0 };

/** A store with an opened thread, for tests that need no tools. */
async function withThread(): Promise<{ store: ThreadStore; id: string }> {
  const store = await testStore();
  return { store, id: (await openThread(store)).id };
}

describe('runtime §14.1 Runtime Semantics', () => {
  it('[runtime 14.1.1] values survive the end of an execution, another worker, and a reopened store', async () => {
    const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
    mkdirSync(folder, { recursive: true });
    const open = async () => {
      const store = await openStore('sqlite:store.db?synchronous=normal', folder);
      closeAfterTest(() => store.close());
      return store;
    };
    const tools = { write, read };
    const before = await open();
    const first = await testRuntime({
      model: scriptedModel([calls('write'), says('ok'), calls('read'), says('ok')]),
      tools,
      store: before,
    });
    const thread = await first.start('write');
    await first.say(thread, 'read');
    expect(await toolAnswers(first, thread)).toEqual(['written', PLAN]);
    await first.stopWorker();
    await before.close();
    const second = await testRuntime({
      model: scriptedModel([calls('read'), says('ok')]),
      tools,
      store: await open(),
      taskQueue: first.taskQueue,
    });
    await second.say(thread, 'read again');
    expect((await toolAnswers(second, thread)).at(-1)).toEqual(PLAN);
  });

  it('[runtime 14.1.2] a value written by one tool is read by the next, an invoked and a concurrent one, and a client', async () => {
    const invoking = toolOf(async (state) => {
      await state.setValue('plan', 'mine');
      const inner = await state.invokeTool('read', {});
      await state.invokeTool('write', {});
      return [inner.result, await state.getValue('plan')];
    });
    const beside = toolOf(async (state) => {
      await Promise.all([state.setValue('x', 1), state.setValue('y', 2)]);
      return Promise.all([state.getValue('x'), state.getValue('y'), state.getValue('plan')]);
    });
    const runtime = await testRuntime({
      model: scriptedModel([
        callsMany([{ name: 'write' }, { name: 'read' }, { name: 'invoking' }, { name: 'beside' }]),
        says('ok'),
      ]),
      tools: { write, read, invoking, beside },
    });
    const thread = await runtime.start('go');
    expect(await toolAnswers(runtime, thread)).toEqual(['written', PLAN, ['"mine"', PLAN], [1, 2, PLAN]]);
    expect(await runtime.client.values(thread).get('plan')).toEqual(PLAN);
    expect((await runtime.client.values(thread).list()).map(({ key }) => key)).toEqual(['plan', 'x', 'y']);
  });

  it('[runtime 14.1.2] tools, hooks, effects and endpoints share values', async () => {
    const trail: (name: string) => Work = (name) => async (state) => {
      const before = (await state.getValue<string[]>('trail')) ?? [];
      await state.setValue('trail', [...before, name]);
    };
    const registry = hookRegistry({
      model: scriptedModel([calls('tool'), says('ok')]),
      hooks: {
        after_thread_created: async (state) => void (await trail('created')(state)),
        before_store_tool_result: async (state) => void (await trail('hook')(state)),
      },
      tools: {
        tool: toolOf(async (state) => {
          await trail('tool')(state);
          await state.scheduleEffect('effect');
        }),
      },
      effects: { effect: defineEffect('Notes.', async (state) => void (await trail('effect')(state))) },
      endpoints: {
        trail: defineThreadEndpoint(async (_request, state) => {
          await trail('endpoint')(state);
          return Response.json(await state.getValue('trail'));
        }),
      },
    });
    const runtime = await testRuntime({ model: scriptedModel([]), registry });
    const thread = await runtime.start('go');
    await eventually('the effect', async () =>
      (await runtime.store.events.read(thread, 0)).some(({ type }) => type === 'effect.done'),
    );
    const endpoints = await createEndpointHandler({ client: runtime.client, registry });
    closeAfterTest(endpoints.close);
    const answer = await endpoints.handle(new Request(`http://host.test/api/threads/${thread}/trail`));
    expect(await answer.json()).toEqual(['created', 'tool', 'hook', 'effect', 'endpoint']);
  });

  it('[runtime 14.1.3] each thread has separate keys: another of the same agent and user reads null', async () => {
    const options: RuntimeOptions = {
      model: scriptedModel([calls('write'), says('ok'), calls('read'), says('ok')]),
      tools: { write, read },
    };
    const runtime = await testRuntime(options);
    const one = await runtime.start('write');
    const other = await runtime.start('read');
    expect(await toolAnswers(runtime, other)).toEqual([null]);
    expect([
      await runtime.client.values(one).get('plan'),
      await runtime.client.values(other).get('plan'),
    ]).toEqual([PLAN, null]);
  });

  it('[runtime 14.1.4] values are returned with their JSON structure, as copies', async () => {
    const value = { o: { a: [1, [2.5], {}], t: true, f: false, n: null }, s: 'é😀\0', z: 0, e: '' };
    const keep = toolOf(async (state) => {
      const mine = structuredClone(value);
      const writing = state.setValue('v', mine);
      mine.s = 'changed after the call';
      await writing;
      const got = await state.getValue<typeof value>('v');
      if (got) got.s = 'changed after reading';
      return state.getValue('v');
    });
    const runtime = await testRuntime({
      model: scriptedModel([calls('keep'), says('ok')]),
      tools: { keep },
    });
    expect(await toolAnswers(runtime, await runtime.start('go'))).toEqual([value]);
  });

  it.each<[string, unknown, string]>([
    ['a number that is not finite', { a: [Number.NaN] }, 'value.a[0] is NaN'],
    ['a function', { act: () => 1 }, 'value.act is a function'],
    ['an instance of a class', [new Map()], 'value[0] is an instance of Map'],
    ['undefined in a list', [undefined], 'value[0] is undefined'],
  ])('[runtime 14.1.4] a value that is not JSON is refused with the place: %s', async (_, value, message) => {
    const { store, id } = await withThread();
    await expect(store.values.set(id, 'k', value)).rejects.toMatchObject({
      code: 'InvalidValue',
      message: expect.stringContaining(message),
    });
    expect(await store.values.get(id, 'k')).toBeNull();
  });

  it('[runtime 14.1.5] getValue is null for a key never set or deleted, or in a new store', async () => {
    const none = toolOf(async (state) => {
      const before = await state.getValue('plan');
      await state.setValue('plan', 1);
      const other = await state.getValue('other');
      await state.setValue('plan', null);
      return [before, other, await state.getValue('plan')];
    });
    const runtime = await testRuntime({ model: scriptedModel([calls('none'), says('ok')]), tools: { none } });
    expect(await toolAnswers(runtime, await runtime.start('go'))).toEqual([[null, null, null]]);
  });

  it.each([[null], [undefined]])('[runtime 14.1.6] setValue(key, %p) deletes the key', async (nothing) => {
    const { store, id } = await withThread();
    await store.values.set(id, 'k', 'here');
    await store.values.set(id, 'k', nothing);
    expect([await store.values.get(id, 'k'), await store.values.list(id)]).toEqual([null, []]);
    await store.values.set(id, 'k', 'again');
    expect(await store.values.get(id, 'k')).toBe('again');
  });

  it('[runtime 14.1.7] a value is durable before setValue resolves: another connection reads it at once', async () => {
    const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
    mkdirSync(folder, { recursive: true });
    const [writer, reader] = await Promise.all([1, 2].map(() => openStore('sqlite:store.db', folder)));
    if (!writer || !reader) throw new Error('no store');
    for (const store of [writer, reader]) closeAfterTest(() => store.close());
    const { id } = await openThread(writer);
    for (let n = 0; n < 20; n++) {
      await writer.values.set(id, 'k', n);
      expect(await reader.values.get(id, 'k')).toBe(n);
    }
  });

  it('[runtime 14.1.8] a child starts without values, and neither sees those of the other', async () => {
    const { store, id: parent } = await withThread();
    await store.values.set(parent, 'k', 'of the parent');
    const child = `${parent}.child`;
    await store.threads.open({
      threadId: child,
      runId: 'run-1',
      agent: 'helper',
      userId: null,
      arguments: {},
      parentId: parent,
      rootId: parent,
      mustExist: false,
    });
    expect(await store.values.list(child)).toEqual([]);
    await store.values.set(child, 'k', 'of the child');
    await store.values.set(parent, 'more', 1);
    expect([await store.values.get(parent, 'k'), await store.values.get(child, 'more')]).toEqual([
      'of the parent',
      null,
    ]);
  });

  it('[runtime 14.1.9] values are stored as plain JSON, and the documentation warns against storing secrets', async () => {
    const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
    mkdirSync(folder, { recursive: true });
    const store = await openStore('sqlite:store.db?synchronous=normal', folder);
    const { id } = await openThread(store);
    await store.values.set(id, 'k', { plain: true });
    await store.close();
    const database = new DatabaseSync(join(folder, 'store.db'));
    closeAfterTest(async () => database.close());
    expect(database.prepare('select value from thread_values').get()).toEqual({ value: '{"plain":true}' });
    expect(operations()).toMatch(/Values and files are not encrypted/);
  });
});

function operations(): string {
  return readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'operations.md'), 'utf8');
}
