/** A2A tasks over both bindings, with the published client, unmodified. */
import { randomUUID } from 'node:crypto';
import { TaskState } from '@a2a-js/sdk';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from '../../../src/definitions/index.ts';
import { calls, hangs, says, scriptedModel } from '../../../src/testing/index.ts';
import { collect } from '../../projections/golden.ts';
import {
  type A2aBinding,
  a2aClient,
  answerOf,
  asTask,
  dataPart,
  heard,
  listing,
  sending,
  stateOf,
  taskIdOf,
  textsOf,
} from '../../support/a2a.ts';
import { testApi } from '../../support/api.ts';
import { testRuntime } from '../../support/runtime.ts';

const pay = defineTool({
  description: 'pays',
  confirm: true,
  execute: () => ({ status: 'success', result: 'paid' }),
});

const BINDINGS: readonly A2aBinding[] = ['JSONRPC', 'HTTP+JSON'];

describe('A2A tasks', () => {
  it.each(BINDINGS)(
    'creates a task from a message and returns it with its answer later; over %s',
    async (binding) => {
      const runtime = await testRuntime({ model: scriptedModel([says('Hello!'), says('Bye!')]) });
      const api = await testApi(runtime);
      const client = await a2aClient(`${api.url}/a2a/helper/`, binding);
      const contextId = randomUUID();
      const request = sending('hi', { contextId, messageId: 'm-1' });
      const task = asTask(await client.sendMessage(request));
      expect([stateOf(task), task.contextId, answerOf(task)]).toEqual([
        'TASK_STATE_COMPLETED',
        contextId,
        'Hello!',
      ]);
      expect(task.history.map(({ messageId }) => messageId)).toEqual(['m-1']);
      expect(await client.getTask({ tenant: '', id: task.id })).toEqual(task);
      // The same message again is the same task; another message in its context begins another task.
      expect(asTask(await client.sendMessage(request))).toEqual(task);
      const next = asTask(await client.sendMessage(sending('bye', { contextId })));
      expect([next.contextId, answerOf(next)]).toEqual([contextId, 'Bye!']);
      expect(next.id).not.toBe(task.id);
      // The first task is unchanged by what followed.
      expect(await client.getTask({ tenant: '', id: task.id })).toEqual(task);
      expect(await runtime.transcript(contextId)).toEqual([
        'user: hi',
        'assistant: Hello!',
        'user: bye',
        'assistant: Bye!',
      ]);
    },
  );

  it('returns an answer that has a type as a text and as data', async () => {
    const model = scriptedModel([says('warm', { chunks: 2 }), says('{"degrees":21}')]);
    const runtime = await testRuntime({ model, side: { output: z.object({ degrees: z.number() }) } });
    const api = await testApi(runtime);
    const client = await a2aClient(`${api.url}/a2a/helper/`, 'JSONRPC');
    const { artifacts } = asTask(await client.sendMessage(sending('Bern?')));
    expect(artifacts).toHaveLength(1);
    expect(artifacts[0]?.parts.map(({ content }) => content)).toEqual([
      { $case: 'text', value: '{"degrees":21}' },
      { $case: 'data', value: { degrees: 21 } },
    ]);
  });

  it.each(BINDINGS)('streams the task first, then its updates until the end; over %s', async (binding) => {
    const runtime = await testRuntime({ model: scriptedModel([says('Hello you')]) });
    const api = await testApi(runtime);
    const client = await a2aClient(`${api.url}/a2a/helper/`, binding);
    const frames = await collect(client.sendMessageStream(sending('hi')));
    const { words, texts } = heard(frames);
    expect(words[0]).toMatch(/^task TASK_STATE_(SUBMITTED|WORKING)$/);
    expect(words.at(-1)).toBe('TASK_STATE_COMPLETED');
    expect(texts).toBe('Hello you');
    const id = taskIdOf(frames);
    expect(answerOf(await client.getTask({ tenant: '', id }))).toBe('Hello you');
    // A task that has ended has no events to subscribe to; a client that returns with a cursor receives the rest.
    await expect(collect(client.resubscribeTask({ tenant: '', id }))).rejects.toThrow('has ended');
  });

  it.each(BINDINGS)('reports the cancellation on the open stream of the task; over %s', async (binding) => {
    const runtime = await testRuntime({ model: scriptedModel([hangs()]) });
    const api = await testApi(runtime);
    const client = await a2aClient(`${api.url}/a2a/helper/`, binding);
    let canceled: Promise<unknown> | undefined;
    const words: string[] = [];
    let id = '';
    for await (const frame of client.sendMessageStream(sending('hi'))) {
      words.push(...heard([frame]).words);
      if (frame.payload?.$case === 'task') id = frame.payload.value.id;
      if (words.at(-1)?.endsWith('WORKING'))
        canceled ??= client.cancelTask({ tenant: '', id, metadata: { reason: 'enough' } });
    }
    expect(words.at(-1)).toBe('TASK_STATE_CANCELED');
    // The first request returns the end if it comes within ten seconds, else the state at that time; a repeated one
    // returns the current state.
    expect(asTask(await canceled).id).toBe(id);
    const task = asTask(await client.cancelTask({ tenant: '', id, metadata: undefined }));
    expect(stateOf(task)).toBe('TASK_STATE_CANCELED');
    // Over REST this client sends no reason.
    expect(textsOf(task.status?.message?.parts ?? [])).toBe(binding === 'JSONRPC' ? 'enough' : 'canceled');
    expect(await client.getTask({ tenant: '', id })).toEqual(task);
  });

  it('refuses to cancel or continue a completed task, and does not find an unknown one', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('Hello!')]) });
    const api = await testApi(runtime);
    const client = await a2aClient(`${api.url}/a2a/helper/`);
    const { id, contextId } = asTask(await client.sendMessage(sending('hi')));
    const codeOf = (asked: Promise<unknown>) =>
      asked.then(
        () => 'none',
        ({ name }) => name as string,
      );
    expect(await codeOf(client.cancelTask({ tenant: '', id, metadata: undefined }))).toBe(
      'TaskNotCancelableError',
    );
    expect(await codeOf(client.sendMessage(sending('more', { taskId: id })))).toBe(
      'UnsupportedOperationError',
    );
    expect(await codeOf(client.getTask({ tenant: '', id: 'none' }))).toBe('TaskNotFoundError');
    expect(await codeOf(client.sendMessage(sending('more', { taskId: 'none' })))).toBe('TaskNotFoundError');
    expect(await codeOf(client.sendMessage(sending('x', { contextId: '/a' })))).not.toBe('none');
    expect((await client.listTasks(listing({ contextId }))).tasks.map((task) => task.id)).toEqual([id]);
  });

  it.each(BINDINGS)(
    'continues a task that waits for a person once it is answered, exactly once; over %s',
    async (binding) => {
      const runtime = await testRuntime({
        model: scriptedModel([calls('pay', { amount: 5 }), calls('pay', { amount: 6 }), says('Done.')]),
        tools: { pay },
      });
      const api = await testApi(runtime);
      const client = await a2aClient(`${api.url}/a2a/helper/`, binding);
      const asked = heard(
        await collect(client.sendMessageStream(sending('pay', { contextId: randomUUID() }))),
      );
      expect(asked.words.at(-1)).toBe('TASK_STATE_INPUT_REQUIRED');
      const [{ id } = { id: '' }] = (
        await client.listTasks(listing({ status: TaskState.TASK_STATE_INPUT_REQUIRED }))
      ).tasks;
      // A message that does not answer the question changes nothing.
      const unsure = asTask(await client.sendMessage(sending('hm', { taskId: id })));
      expect(stateOf(unsure)).toBe('TASK_STATE_INPUT_REQUIRED');
      const yes = sending('Yes.', { taskId: id, messageId: 'yes-1' });
      const second = asTask(await client.sendMessage(yes));
      expect(stateOf(second)).toBe('TASK_STATE_INPUT_REQUIRED');
      expect(second.history.map(({ messageId }) => messageId).at(-1)).toBe('yes-1');
      // The same answer sent again does not answer the present question.
      expect(asTask(await client.sendMessage(yes)).status).toEqual(second.status);
      const [, wait] = second.status?.message?.parts ?? [];
      const { waitId } = (wait?.content?.value ?? {}) as { waitId: string };
      const no = sending([dataPart({ waitId, approved: false, reason: 'too much' })], { taskId: id });
      const { words, texts } = heard(await collect(client.sendMessageStream(no)));
      expect(words.at(-1)).toBe('TASK_STATE_COMPLETED');
      expect(texts).toBe('Done.');
      const [answered] = await runtime.client.listWaits({ state: 'answered' });
      expect(answered?.answer).toMatchObject({ approved: true });
    },
  );
});
