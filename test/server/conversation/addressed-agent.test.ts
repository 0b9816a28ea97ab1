/** A thread is addressed as the agent that it was created for, or that has it now: at every endpoint. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { calls, says, scriptedModel } from '../../../src/testing/index.ts';
import { type TestApi, testApi } from '../../support/api.ts';
import { promptProject } from '../../support/prompt-project.ts';
import { testRuntime } from '../../support/runtime.ts';

const user = { role: 'user', content: 'hi' };
const DOORS: Readonly<Record<string, (agent: string, threadId: string, taskId: string) => [string, object]>> =
  {
    completions: (model, threadId) => [
      '/v1/chat/completions',
      { model, messages: [user], metadata: { thread_id: threadId } },
    ],
    'ag-ui': (agent, threadId) => [
      `/ag-ui/${agent}`,
      { threadId, runId: 'r', messages: [{ id: randomUUID(), ...user }] },
    ],
    chat: (agent, id) => [
      `/v1/agents/${agent}/chat`,
      { id, message: { id: randomUUID(), role: 'user', parts: [{ type: 'text', text: 'hi' }] } },
    ],
    'the stop of a chat': (agent, id) => [`/v1/agents/${agent}/chat/${id}/stop`, {}],
    'a2a, a message': (agent, contextId) => [
      `/a2a/${agent}/message:send`,
      { message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }], contextId } },
    ],
    'a2a, a task': (agent, _, taskId) => [`/a2a/${agent}/tasks/${taskId}:cancel`, {}],
    'a run': (agent, sessionId) => [
      '/agents/run/stream',
      { agent, sessionId, message: 'hi', executionId: randomUUID() },
    ],
  };

/** The agent "helper", which may hand over to "clerk"; and a thread of "helper". */
async function begin(first = says('Hello!')) {
  const model = scriptedModel((request) => {
    const handed = request.messages.some(({ role }) => role === 'tool');
    return request.messages.length <= 2 && !handed ? first : says('At your service.');
  });
  const prompts = { clerk_desk: { includeChat: true, includePastTools: true } };
  const registry = promptProject({
    ...{ model, prompts, main: { tools: ['clerk'], includeChat: true, includePastTools: true } },
    agents: { clerk: { title: 'the clerk' } },
  });
  const runtime = await testRuntime({ model, registry });
  const agents = ['helper', 'clerk'].map((name) => ({ name, title: null, description: null }));
  const api = await testApi(runtime, { agents: () => agents });
  const contextId = randomUUID();
  const [path, body] = DOORS['a2a, a message']?.('helper', contextId, '') ?? [];
  const { body: sent } = await api.call('POST', path as string, body, A2A);
  return { runtime, api, threadId: contextId, taskId: sent.task.id as string };
}
const A2A = { 'a2a-version': '1.0' };

const post = async (api: TestApi, [path, body]: readonly [string, object]) =>
  api.call('POST', path, body, path.startsWith('/a2a') ? A2A : {});

describe('a thread that belongs to one agent', () => {
  it('is not found at any endpoint under the name of another agent', async () => {
    const { runtime, api, threadId, taskId } = await begin();
    const before = await runtime.transcript(threadId);
    // As for a chat that does not exist yet: nothing is said about the thread.
    expect((await api.call('GET', `/v1/agents/clerk/chat/${threadId}/stream`)).status).toBe(204);
    for (const [door, toRequest] of Object.entries(DOORS)) {
      const { status, body } = await post(api, toRequest('clerk', threadId, taskId));
      expect([door, status, JSON.stringify(body)]).toEqual([
        door,
        404,
        expect.stringMatching(/ThreadNotFound|TASK_NOT_FOUND/),
      ]);
    }
    expect(await runtime.transcript(threadId)).toEqual(before);
  });

  it('is found under both agents after a handoff; the model of an answer is the agent that answered', async () => {
    const { runtime, api, threadId } = await begin(calls('clerk'));
    expect((await runtime.client.getThread(threadId)).agent).toBe('clerk');
    for (const name of ['helper', 'clerk']) {
      const messages = [user, { role: 'assistant', content: name }, { role: 'user', content: name }];
      const { status, body } = await api.call('POST', '/v1/chat/completions', {
        ...{ model: name, messages, metadata: { thread_id: threadId } },
      });
      expect([status, body.model]).toEqual([200, 'clerk']);
    }
  });
});
