/** Tasks of A2A over both bindings, with the published client as it is. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { says, scriptedModel } from '../../../src/testing/index.ts';
import { type A2aBinding, a2aClient, answerOf, asTask, sending, stateOf } from '../../support/a2a.ts';
import { testApi } from '../../support/api.ts';
import { testRuntime } from '../../support/runtime.ts';

const BINDINGS: readonly A2aBinding[] = ['JSONRPC', 'HTTP+JSON'];

describe('tasks of A2A', () => {
  it.each(BINDINGS)(
    'a message begins a task, which is found again with its answer; over %s',
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
      // The same again is the same task; in its context another message begins another one.
      expect(asTask(await client.sendMessage(request))).toEqual(task);
      const next = asTask(await client.sendMessage(sending('bye', { contextId })));
      expect([next.contextId, answerOf(next)]).toEqual([contextId, 'Bye!']);
      expect(next.id).not.toBe(task.id);
      expect(await runtime.transcript(contextId)).toEqual([
        'user: hi',
        'assistant: Hello!',
        'user: bye',
        'assistant: Bye!',
      ]);
    },
  );
});
