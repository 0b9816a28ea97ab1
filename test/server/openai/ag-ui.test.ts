/** AG-UI over HTTP, asked by its own client as it is published: which refuses every stream that breaks a rule of the protocol. */
import { randomUUID } from 'node:crypto';
import { type BaseEvent, HttpAgent } from '@ag-ui/client';
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../../src/definitions/index.ts';
import { calls, fails, says, scriptedModel } from '../../../src/testing/index.ts';
import { type TestApi, testApi } from '../../support/api.ts';
import { testRuntime } from '../../support/runtime.ts';

const usage = { promptTokens: 9, completionTokens: 4, totalTokens: 13 };

const pay = defineTool({
  description: 'pays',
  confirm: true,
  execute: () => ({ status: 'success', result: 'paid' }),
});

interface Shown {
  readonly role: string;
  readonly content?: unknown;
}
const shown = ({ messages }: { messages: readonly object[] }) =>
  (messages as readonly Shown[]).map(({ role, content }) => `${role}: ${content ?? ''}`);

function connect({ url }: Pick<TestApi, 'url'>, threadId: string = randomUUID()) {
  const agent = new HttpAgent({ url: `${url}/ag-ui/helper`, threadId });
  const told: BaseEvent[] = [];
  agent.subscribe({
    onEvent({ event }) {
      told.push(event);
    },
  });
  const say = (content: string) => agent.addMessage({ id: randomUUID(), role: 'user', content });
  return { agent, told, say };
}

describe('/ag-ui/{agent}', () => {
  it('a conversation is a thread whose messages the client has as they are stored; the same message again is answered the same', async () => {
    const look = defineTool({ description: 'looks', execute: () => ({ status: 'success', result: 'seen' }) });
    const model = scriptedModel([
      calls('look', {}, { text: 'Looking.', usage }),
      says('Seen.', { chunks: 3, usage }),
      says('Bye!'),
    ]);
    const runtime = await testRuntime({ model, tools: { look } });
    const api = await testApi(runtime);
    const { agent, told, say } = connect(api);
    say('look');
    await agent.runAgent();
    say('bye');
    const said = structuredClone(agent.messages);
    await agent.runAgent();
    const { messages } = await runtime.client.getMessages(agent.threadId);
    expect(agent.messages.map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
    expect(shown(agent)).toEqual([
      'user: look',
      'assistant: Looking.',
      'tool: seen',
      'assistant: Seen.',
      'user: bye',
      'assistant: Bye!',
    ]);
    expect(told.filter(({ type }) => type === 'RUN_FINISHED')).toMatchObject([
      { outcome: { type: 'success' }, usage: [{ inputTokens: 18, outputTokens: 8 }] },
      { outcome: { type: 'success' } },
    ]);
    // A client that has lost the answer, and one that has lost everything.
    const again = connect(api, agent.threadId);
    again.agent.setMessages(said);
    await again.agent.runAgent();
    expect(again.agent.messages).toEqual(agent.messages);
    const new_ = connect(api, agent.threadId);
    await new_.agent.runAgent();
    expect(shown(new_.agent)).toEqual(shown(agent));
    expect(await runtime.messages(agent.threadId)).toHaveLength(6);
  });

  it('an approval is an interrupt, answered by the next run, which goes on behind it', async () => {
    for (const approved of [true, false]) {
      const runtime = await testRuntime({
        model: scriptedModel([calls('pay', { amount: 5 }), says('Done.')]),
        tools: { pay },
      });
      const api = await testApi(runtime);
      const { agent, say } = connect(api);
      say('pay');
      await agent.runAgent();
      const [asked] = agent.pendingInterrupts;
      // A client that comes to it now is asked the same, whether it says something or not.
      const other = connect(api, agent.threadId);
      await other.agent.runAgent();
      expect(other.agent.pendingInterrupts).toEqual([asked]);
      const third = connect(api, agent.threadId);
      third.say('hurry');
      await third.agent.runAgent();
      expect(third.agent.pendingInterrupts).toEqual([asked]);
      expect(asked).toMatchObject({ reason: 'tool_call', metadata: { kind: 'approval', name: 'pay' } });
      const resume = [
        { interruptId: asked?.id as string, status: 'resolved' as const, payload: { approved } },
      ];
      await agent.runAgent({ resume });
      expect(agent.pendingInterrupts).toEqual([]);
      expect(shown(agent).at(-1)).toBe('assistant: Done.');
      const stored = await runtime.client.getMessages(agent.threadId);
      expect(shown(agent)).toEqual(shown(stored));
      expect(stored.messages.find(({ role }) => role === 'tool')?.tool_status).toBe(
        approved ? 'success' : 'error',
      );
    }
  });

  it('refuses what cannot be run, and tells what has failed', async () => {
    const failure = fails({ status: 400, message: 'no such model' });
    const runtime = await testRuntime({ model: scriptedModel([failure]) });
    const api = await testApi(runtime);
    const { agent, told, say } = connect(api);
    const refused = async (body: object) => {
      const { status, body: problem } = await api.call('POST', '/ag-ui/helper', {
        threadId: agent.threadId,
        runId: 'r',
        messages: [],
        ...body,
      });
      return [status, problem.code];
    };
    expect(await refused({})).toEqual([400, 'InvalidRequest']);
    const resume = [{ interruptId: 'none', status: 'cancelled' }];
    expect(await refused({ resume })).toEqual([404, 'ThreadNotFound']);
    say('hi');
    await agent.runAgent().catch(() => undefined);
    expect(told.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: expect.any(String) });
    expect(await refused({ resume })).toEqual([404, 'WaitNotFound']);
  });
});
