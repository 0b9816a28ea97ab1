/** AG-UI over HTTP with its published client, which rejects every stream that breaks a rule of the protocol. */
import { randomUUID } from 'node:crypto';
import { type BaseEvent, HttpAgent } from '@ag-ui/client';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from '../../../src/definitions/index.ts';
import { calls, callsMany, fails, says, scriptedModel } from '../../../src/testing/index.ts';
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
  it('keeps a conversation as a thread whose stored messages the client has; a repeated message gets the same answer', async () => {
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
    // A client that lost the answer, and one that lost everything.
    const again = connect(api, agent.threadId);
    again.agent.setMessages(said);
    await again.agent.runAgent();
    expect(again.agent.messages).toEqual(agent.messages);
    const new_ = connect(api, agent.threadId);
    await new_.agent.runAgent();
    expect(shown(new_.agent)).toEqual(shown(agent));
    expect(await runtime.messages(agent.threadId)).toHaveLength(6);
  });

  it('sends the pictures of a message as parts that a page shows without a token and may send back', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('Red.')]) });
    const { agent } = connect(await testApi(runtime));
    const value = Buffer.from('a picture').toString('base64');
    const parts = [
      { type: 'text' as const, text: 'Which colour?' },
      { type: 'image' as const, source: { type: 'data' as const, value, mimeType: 'image/png' } },
      // A part as earlier versions of the protocol have it.
      { type: 'binary', mimeType: 'text/plain', data: value, filename: 'note.txt' },
    ];
    agent.addMessage({ id: 'm-1', role: 'user', content: parts as never });
    await agent.runAgent();
    const [shownParts] = agent.messages.map(({ content }) => content as unknown[]);
    const source = { type: 'url', value: expect.any(String) };
    expect(shownParts).toEqual([
      { type: 'text', text: 'Which colour?' },
      { type: 'image', source: { ...source, mimeType: 'image/png' } },
      { type: 'document', source: { ...source, mimeType: 'text/plain' } },
    ]);
    const [, image] = shownParts as [unknown, { source: { value: string } }];
    expect(await (await fetch(image.source.value)).text()).toBe('a picture');
    // A page whose run was cut off sends its message again, as the snapshot has shown it.
    const [said] = structuredClone(agent.messages);
    agent.setMessages(said ? [said] : []);
    await agent.runAgent();
    expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(await runtime.messages(agent.threadId)).toHaveLength(2);
  });

  it('takes changed arguments with the answer to an interrupt', async () => {
    const paid: unknown[] = [];
    const model = scriptedModel([calls('pay', { amount: 5 }), says('Done.')]);
    const changing = defineTool({
      description: 'pays',
      args: z.object({ amount: z.number() }),
      confirm: true,
      execute: (_state, given) => {
        paid.push(given);
        return { status: 'success', result: 'paid' };
      },
    });
    const { agent, say } = connect(await testApi(await testRuntime({ model, tools: { pay: changing } })));
    say('pay');
    await agent.runAgent();
    const [asked] = agent.pendingInterrupts;
    expect(asked?.responseSchema).toMatchObject({ properties: { arguments: { type: 'object' } } });
    const payload = { approved: true, arguments: { amount: 3 } };
    await agent.runAgent({ resume: [{ interruptId: String(asked?.id), status: 'resolved', payload }] });
    expect(paid).toEqual([{ amount: 3 }]);
    expect(shown(agent).at(-1)).toBe('assistant: Done.');
  });

  it('sends an approval as an interrupt, which the next run answers and continues', async () => {
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
      // A client that joins now receives the same question, whether it sends a message or not.
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

  describe('client tools', () => {
    const weather = {
      name: 'weather',
      description: 'tells the weather',
      parameters: { type: 'object', properties: { town: { type: 'string' } } },
    };
    const look = defineTool({ description: 'looks', execute: () => ({ status: 'success', result: 'seen' }) });
    /** Calls of the client's tools that have no result yet. */
    const openCalls = ({ messages }: HttpAgent) => {
      const done = new Set(messages.flatMap((each) => (each.role === 'tool' ? [each.toolCallId] : [])));
      return messages
        .flatMap((each) => (each.role === 'assistant' ? (each.toolCalls ?? []) : []))
        .filter(({ id }) => !done.has(id));
    };
    const give = (agent: HttpAgent, toolCallId: string, result: { content: string; error?: string }) =>
      agent.addMessage({ id: randomUUID(), role: 'tool', toolCallId, ...result });

    it('are offered to the agent; a call of one ends the run and waits durably for its result in the next run, once', async () => {
      const offered: (string[] | undefined)[] = [];
      const towns = ['Oslo', 'Rome'].map((town) => ({ name: 'client__weather', args: { town } }));
      const model = scriptedModel((request) => {
        offered.push(request.tools?.map((each) => each.function.name));
        const results = request.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
        if (results.length > 0) return says(results.join(', '));
        return callsMany([{ name: 'look', args: {} }, ...towns]);
      });
      const runtime = await testRuntime({ model, tools: { look } });
      const { agent, say, told } = connect(await testApi(runtime));
      say('weather?');
      await agent.runAgent({ tools: [weather] });
      expect(agent.pendingInterrupts).toEqual([]);
      expect(told.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
      expect(openCalls(agent).map((call) => call.function)).toEqual([
        { name: 'weather', arguments: '{"town":"Oslo"}' },
        { name: 'weather', arguments: '{"town":"Rome"}' },
      ]);
      expect(await runtime.client.getThread(agent.threadId)).toMatchObject({ status: 'waiting' });
      const [oslo, rome] = openCalls(agent).map(({ id }) => id);
      // A run without results reports the same calls again.
      await agent.runAgent({ tools: [weather] });
      expect(openCalls(agent)).toHaveLength(2);
      give(agent, oslo as string, { content: 'rain' });
      give(agent, rome as string, { content: '', error: 'no such town' });
      const said = structuredClone(agent.messages);
      await agent.runAgent({ tools: [weather] });
      // The client keeps its own ids of results.
      const ids = agent.messages.map(({ id }) => id);
      expect(ids.slice(0, -1)).toEqual(said.map(({ id }) => id));
      expect(ids.at(-1)).toBe((await runtime.client.getMessages(agent.threadId)).messages.at(-1)?.id);
      expect(shown(agent)).toEqual([
        'user: weather?',
        'assistant: ',
        'tool: seen',
        'tool: rain',
        'tool: Failed to execute tool: no such town',
        'assistant: seen, rain, Failed to execute tool: no such town',
      ]);
      // Y1: arguments are reported once, however many runs have reported the call.
      expect(
        agent.messages.flatMap((each) => ('toolCalls' in each ? (each.toolCalls ?? []) : [])),
      ).toMatchObject([
        { function: { name: 'look', arguments: '{}' } },
        { function: { name: 'weather', arguments: '{"town":"Oslo"}' } },
        { function: { name: 'weather', arguments: '{"town":"Rome"}' } },
      ]);
      expect((await runtime.transcript(agent.threadId)).filter((line) => line.startsWith('tool '))).toEqual([
        'tool look success: seen',
        'tool client__weather success: rain',
        'tool client__weather error: Failed to execute tool: no such town',
      ]);
      expect(offered[0]).toEqual(expect.arrayContaining(['client__weather']));
      // The same results again, from a client that lost the answer.
      const { agent: again } = connect(await testApi(runtime), agent.threadId);
      again.setMessages(said);
      await again.runAgent({ tools: [weather] });
      expect(shown(again)).toEqual(shown(agent));
      // Another message offers only the tools that it brings.
      say('thanks');
      await agent.runAgent();
      expect(offered.at(-1)).toEqual(['look']);
      expect(await runtime.messages(agent.threadId)).toHaveLength(8);
    });

    it('follow policies: a denied call is an error for the agent, one that needs approval is asked for first', async () => {
      for (const rule of ['deny', 'require_approval'] as const) {
        const model = scriptedModel(({ messages }) => {
          const result = messages.findLast(({ role }) => role === 'tool');
          return result ? says(`told: ${result.content}`) : calls('client__weather', { town: 'Oslo' });
        });
        const runtime = await testRuntime({ model, agent: { policy: { 'client.*': rule } } });
        const { agent, say } = connect(await testApi(runtime));
        say('weather?');
        await agent.runAgent({ tools: [weather] });
        if (rule === 'deny') {
          expect(shown(agent).at(-1)).toMatch(/^assistant: told: .*client\.weather/);
        } else {
          const [asked] = agent.pendingInterrupts;
          expect(asked).toMatchObject({ metadata: { kind: 'approval', name: 'client__weather' } });
          // A result does not count as an approval.
          const { agent: other } = connect(await testApi(runtime), agent.threadId);
          other.setMessages(structuredClone(agent.messages));
          give(other, String(openCalls(agent)[0]?.id), { content: 'sun' });
          await other.runAgent({ tools: [weather] });
          expect(other.pendingInterrupts).toEqual([asked]);
          const payload = { approved: true };
          await agent.runAgent({
            tools: [weather],
            resume: [{ interruptId: String(asked?.id), status: 'resolved', payload }],
          });
          expect(agent.pendingInterrupts).toEqual([]);
          give(agent, String(openCalls(agent)[0]?.id), { content: 'sun' });
          await agent.runAgent({ tools: [weather] });
          expect(shown(agent).at(-1)).toBe('assistant: told: sun');
        }
      }
    });

    it('are refused if they are invalid, and no thread is started', async () => {
      const runtime = await testRuntime({ model: scriptedModel([]) });
      const { url, call } = await testApi(runtime);
      const { agent } = connect({ url });
      const messages = [{ id: 'm', role: 'user', content: 'hi' }];
      const tools = [weather, weather];
      const { status, body } = await call('POST', '/ag-ui/helper', {
        ...{ threadId: agent.threadId, runId: 'r', messages, tools },
      });
      expect([status, body.code]).toEqual([400, 'InvalidRequest']);
      await expect(runtime.client.getThread(agent.threadId)).rejects.toMatchObject({
        code: 'ThreadNotFound',
      });
    });
  });

  it('refuses an invalid run, and reports a failed one', async () => {
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
