/** Chats of `useChat` over HTTP: the requests that its transport sends, and the responses that it reads. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { type TestApi, testApi } from '../support/api.ts';
import { askChat, type Chunk, textOf, typesOf } from '../support/read-chat.ts';
import { testRuntime } from '../support/runtime.ts';

const said = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] });
const chatOf = ({ url }: TestApi) => `${url}/v1/agents/helper/chat`;
const post = (api: TestApi, id: string, message: object, more = {}) =>
  askChat(chatOf(api), { body: { id, messages: [message], trigger: 'submit-message' }, ...more });

/** A tool that ends when `letOn` is called. */
function gated() {
  const gate = Promise.withResolvers<void>();
  const tool = defineTool({
    description: 'looks',
    async execute() {
      await gate.promise;
      return { status: 'success', result: 'seen' };
    },
  });
  return { tool, letOn: () => gate.resolve() };
}

const pay = defineTool({
  description: 'pays',
  confirm: true,
  execute: () => ({ status: 'success', result: 'paid' }),
});

describe('/v1/agents/{agent}/chat', () => {
  it('creates the thread under the id of the chat from its first message; a repeated message is stored once', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('Hello!'), says('Bye!')]) });
    const api = await testApi(runtime);
    const id = randomUUID().slice(0, 16);
    const first = await post(api, id, said('m-1', 'hi'));
    expect(first.done).toBe(true);
    expect(textOf(first.chunks)).toBe('Hello!');
    const types = typesOf(first.chunks);
    expect([types[0], types[1], types.at(-2), types.at(-1)]).toEqual([
      'start',
      'start-step',
      'finish-step',
      'finish',
    ]);
    await runtime.client.waitForIdle(id);
    const second = await post(api, id, said('m-2', 'bye'));
    expect(textOf(second.chunks)).toBe('Bye!');
    await runtime.client.waitForIdle(id);
    for (const [message, before] of [
      [said('m-1', 'hi'), first],
      [said('m-2', 'bye'), second],
    ] as const) {
      const again = await post(api, id, message);
      expect(textOf(again.chunks)).toBe(textOf(before.chunks));
      expect(again.chunks[0]).toEqual(before.chunks[0]);
    }
    expect(await runtime.transcript(id)).toEqual([
      'user: hi',
      'assistant: Hello!',
      'user: bye',
      'assistant: Bye!',
    ]);
  });

  it('keeps running when its reader disconnects, replays the response to a returning one, and answers 204 at rest', async () => {
    const { tool, letOn } = gated();
    const runtime = await testRuntime({
      model: scriptedModel([calls('look'), says('Seen.')]),
      tools: { look: tool },
    });
    const api = await testApi(runtime);
    const id = randomUUID();
    const stream = `${chatOf(api)}/${id}/stream`;
    expect((await askChat(stream, { method: 'GET' })).status).toBe(204);
    const isCall = ({ type }: Chunk) => type === 'tool-input-available';
    const left = await post(api, id, said('m-1', 'look'), { leave: isCall });
    expect(left.done).toBe(false);
    const back = await askChat(stream, {
      method: 'GET',
      leave(chunk) {
        if (isCall(chunk)) letOn();
        return false;
      },
    });
    expect(back.done).toBe(true);
    expect(back.chunks.slice(0, left.chunks.length)).toEqual(left.chunks);
    expect(back.chunks).toContainEqual(
      expect.objectContaining({ type: 'tool-output-available', output: 'seen' }),
    );
    expect(textOf(back.chunks)).toBe('Seen.');
    expect(back.chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'stop' });
    await runtime.client.waitForIdle(id);
    expect((await askChat(stream, { method: 'GET' })).status).toBe(204);
  });

  it('stops a response by its stop request, and ends it as aborted', async () => {
    const runtime = await testRuntime({ model: scriptedModel([hangs()]) });
    const api = await testApi(runtime);
    const id = randomUUID();
    let stopped: Promise<number> | undefined;
    const { chunks, done } = await post(api, id, said('m-1', 'hi'), {
      leave({ type }: Chunk) {
        if (type === 'start-step')
          stopped = api.call('POST', `/v1/agents/helper/chat/${id}/stop`).then(({ status }) => status);
        return false;
      },
    });
    expect(await stopped).toBe(202);
    expect(done).toBe(true);
    expect(chunks.at(-1)).toMatchObject({ type: 'abort' });
    expect((await runtime.client.getThread(id)).status).toBe('stopped');
  });

  it('ends a response that asks for an approval, and continues after the answer that the page posts', async () => {
    for (const approved of [true, false]) {
      const runtime = await testRuntime({
        model: scriptedModel([calls('pay', { amount: 5 }), says('Done.')]),
        tools: { pay },
      });
      const api = await testApi(runtime);
      const id = randomUUID();
      const asked = await post(api, id, said('m-1', 'pay'));
      const start = asked.chunks[0];
      const request = asked.chunks.find(({ type }) => type === 'tool-approval-request');
      expect(typesOf(asked.chunks)).toEqual([
        'start',
        'start-step',
        'tool-input-available',
        'tool-approval-request',
        'finish-step',
        'finish',
      ]);
      expect(asked.chunks[2]).toMatchObject({ toolCallId: request.toolCallId, input: { amount: 5 } });
      // A page that is loaded now sees the open question.
      const seen = await askChat(`${chatOf(api)}/${id}/stream`, { method: 'GET' });
      expect(seen.chunks).toEqual(asked.chunks);
      // The call's input as the page sends it is not read.
      const answer = {
        id: start.messageId,
        role: 'assistant',
        parts: [
          {
            type: 'dynamic-tool',
            toolName: 'pay',
            toolCallId: request.toolCallId,
            state: 'approval-responded',
            input: { amount: 5000 },
            approval: { id: request.approvalId, approved, reason: 'so it is' },
          },
        ],
      };
      for (const _ of ['once', 'again']) {
        const { chunks } = await post(api, id, answer);
        expect(chunks[0]).toEqual(start);
        const [outcome] = chunks.filter(({ type }) => type.startsWith('tool-'));
        expect(outcome).toMatchObject(
          approved
            ? { type: 'tool-output-available', output: 'paid' }
            : { type: 'tool-output-denied', toolCallId: request.toolCallId },
        );
        expect(textOf(chunks)).toBe('Done.');
      }
      expect((await runtime.client.listWaits({ threadId: id, state: 'answered' }))[0]).toMatchObject({
        id: request.approvalId,
      });
    }
  });

  it('refuses a message with another text or file under its id, and keeps the first version and its file', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('Hello!')]) });
    const api = await testApi(runtime);
    const id = randomUUID().slice(0, 16);
    const file = (content: string) => ({
      type: 'file',
      filename: 'a.txt',
      mediaType: 'text/plain',
      url: `data:text/plain;base64,${Buffer.from(content).toString('base64')}`,
    });
    const first = { ...said('m-1', 'hi'), parts: [...said('m-1', 'hi').parts, file('first')] };
    expect((await post(api, id, first)).done).toBe(true);
    await runtime.client.waitForIdle(id);
    for (const [text, content] of [
      ['ho', 'first'],
      ['hi', 'second'],
    ] as const) {
      const edited = { ...said('m-1', text), parts: [...said('m-1', text).parts, file(content)] };
      const { status, body } = await api.call('POST', '/v1/agents/helper/chat', {
        ...{ id, messages: [edited], trigger: 'submit-message' },
      });
      expect([status, body.code]).toEqual([409, 'ItemConflict']);
    }
    const { messages } = await runtime.client.getMessages(id);
    expect(messages.map(({ content }) => content)).toEqual(['hi', 'Hello!']);
    const [path = ''] = (messages[0]?.attachments ?? []).map((each) => each.path);
    expect(Buffer.from((await runtime.client.files(id).read(path)) ?? new ArrayBuffer(0)).toString()).toBe(
      'first',
    );
    // The text that is stored may have been changed since; the sender's own text is still a repeat.
    await runtime.client.updateMessage(id, 'm-1', { content: 'changed' });
    expect(textOf((await post(api, id, first)).chunks)).toBe('Hello!');
  });

  it('refuses an invalid request with a code', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const api = await testApi(runtime, { agents: () => [{ name: 'other', title: null, description: null }] });
    const refused = async (body: object) => {
      const { status, body: problem } = await api.call('POST', '/v1/agents/helper/chat', body);
      return [status, problem.code];
    };
    const id = randomUUID();
    expect(await refused({ id, messages: [] })).toEqual([400, 'InvalidRequest']);
    expect(await refused({ id, message: { role: 'assistant', parts: [] } })).toEqual([400, 'InvalidRequest']);
    expect(await refused({ id, message: said('m', 'x') })).toEqual([404, 'AgentNotFound']);
    const approval = {
      state: 'approval-responded',
      type: 'dynamic-tool',
      approval: { id: 'w', approved: true },
    };
    expect(await refused({ id, message: { role: 'assistant', parts: [approval] } })).toEqual([
      404,
      'ThreadNotFound',
    ]);
  });
});
