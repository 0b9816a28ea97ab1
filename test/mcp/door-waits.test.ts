/**
 * Questions and approvals of agents, shown by the client that calls them: the SDK's, unmodified, in both versions of
 * the protocol.
 */
import { describe, expect, it } from '@jest/globals';
import type { ElicitResult } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { defineTool } from '../../src/definitions/index.ts';
import { tokenAccess } from '../../src/server/api/access.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { connect, door, person, toldOf } from '../support/mcp-door.ts';
import { eventually } from '../support/runtime.ts';

const book = defineTool({
  description: 'books',
  confirm: () => 'Book it?',
  execute: () => ({ status: 'success', result: 'ok' }),
});
const SCHEMA = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const ask = defineTool({
  description: 'asks',
  asks: true,
  execute: async (state) => {
    const { value } = await state.ask({ key: 'name', question: 'For whom?', data: { schema: SCHEMA } });
    return { status: 'success', result: `for ${(value as { name: string }).name}` };
  },
});

describe.each(['auto', 'legacy'] as const)('a wait of an agent, for a client that speaks %s', (mode) => {
  it('is shown as a form to the person at the client, and the same call continues with the answer', async () => {
    const model = scriptedModel([calls('ask', {}), calls('book', {}), says('Done.')]);
    const { runtime, url } = await door({ model, tools: { ask, book } });
    const answers: ElicitResult[] = [
      { action: 'accept', content: { name: 'Ada' } },
      { action: 'accept', content: { approved: true } },
    ];
    const { client, forms } = await person(url, mode, () => answers.shift() as ElicitResult);
    const words: unknown[] = [];
    const told = toldOf(
      await client.callTool(
        { name: 'helper', arguments: { message: 'go' } },
        { onprogress: ({ message }) => void words.push(message) },
      ),
    );
    expect(told).toMatchObject({ status: 'answered', text: 'Done.' });
    expect(forms).toMatchObject([
      { message: 'For whom?', requestedSchema: { properties: { name: { type: 'string' } } } },
      { message: 'Book it?', requestedSchema: { required: ['approved'] } },
    ]);
    expect(await runtime.transcript(told.thread)).toEqual([
      'user: go',
      'assistant:  -> ask',
      'tool ask success: for Ada',
      'assistant:  -> book',
      'tool book success: ok',
      'assistant: Done.',
    ]);
    // Each step is reported once, however many rounds there were.
    expect(words.filter((word) => word === 'thinking')).toHaveLength(3);
  });

  it('is approved with changed arguments; a text that is no JSON object leaves it open', async () => {
    const model = scriptedModel([calls('seat', { seats: 9 }), says('Done.')]);
    const seats: number[] = [];
    const seat = defineTool({
      description: 'seats',
      args: z.object({ seats: z.number() }),
      confirm: true,
      execute: (_state, given) => {
        seats.push(given.seats);
        return { status: 'success', result: 'ok' };
      },
    });
    const { runtime, url } = await door({ model, tools: { seat } });
    let changed = 'two';
    const filled = () => ({ action: 'accept' as const, content: { approved: true, arguments: changed } });
    const { client, forms } = await person(url, mode, filled);
    const refused = await client.callTool({ name: 'helper', arguments: { message: 'go' } });
    expect(JSON.stringify(refused)).toContain(
      mode === 'auto' ? 'InvalidValue: \\"seat\\" was not approved' : '"status":"waits"',
    );
    expect(forms).toMatchObject([{ requestedSchema: { properties: { arguments: { type: 'string' } } } }]);
    changed = '{"seats":2}';
    const [{ threadId: thread } = { threadId: '' }] = await runtime.client.listWaits();
    const after = toldOf(await client.callTool({ name: 'helper', arguments: { thread } }));
    expect(after).toMatchObject({ status: 'answered', text: 'Done.' });
    expect(seats).toEqual([2]);
    await runtime.client.waitForIdle(thread);
  });

  it.each<[string, ElicitResult]>([
    ['refused', { action: 'decline' }],
    ['accepted without a word of approval', { action: 'accept', content: {} }],
  ])('that is %s is refused', async (_how, answer) => {
    const model = scriptedModel([calls('book', {}), says('Not booked.')]);
    const { runtime, url } = await door({ model, tools: { book } });
    const { client } = await person(url, mode, () => answer);
    const told = toldOf(await client.callTool({ name: 'helper', arguments: { message: 'go' } }));
    expect(told).toMatchObject({ status: 'answered', text: 'Not booked.' });
    expect((await runtime.transcript(told.thread))[2]).toMatch(/^tool book error/);
  });

  it('that is dismissed stays open, and the call ends with that information', async () => {
    const model = scriptedModel([calls('book', {}), says('Booked.')]);
    const { runtime, url } = await door({ model, tools: { book } });
    const { client, forms } = await person(url, mode, () => ({ action: 'cancel' }));
    const told = toldOf(await client.callTool({ name: 'helper', arguments: { message: 'go' } }));
    expect(told).toMatchObject({ status: 'waits', waits: [{ kind: 'approval', summary: 'Book it?' }] });
    expect(forms).toHaveLength(1);
    const [wait] = await runtime.client.listWaits({ threadId: told.thread });
    await runtime.client.answerWait(String(wait?.id), { approved: true });
    await runtime.client.waitForIdle(told.thread);
    expect(await runtime.transcript(told.thread)).toContain('assistant: Booked.');
  });
});

describe('a wait shown to a person', () => {
  it('that is answered through another client is withdrawn, and the call continues', async () => {
    const model = scriptedModel([calls('book', {}), says('Booked.')]);
    const { runtime, url } = await door({ model, tools: { book } });
    const never = new Promise<never>(() => undefined);
    const { client, forms } = await person(url, 'legacy', () => never);
    const call = client.callTool({ name: 'helper', arguments: { message: 'go' } });
    await eventually('the form', () => forms.length === 1);
    const [wait] = await runtime.client.listWaits();
    await runtime.client.answerWait(String(wait?.id), { approved: true });
    expect(toldOf(await call)).toMatchObject({ status: 'answered', text: 'Booked.' });
  });

  it('outlives its call: a later call returns the end', async () => {
    const model = scriptedModel([calls('book', {}), says('Booked.')]);
    const { runtime, url } = await door({ model, tools: { book } });
    const never = new Promise<never>(() => undefined);
    const { client, forms } = await person(url, 'legacy', () => never);
    const call = client.callTool({ name: 'helper', arguments: { message: 'go' } });
    call.catch(() => undefined);
    await eventually('the form', () => forms.length === 1);
    await client.close();
    // By the time of a new connection the server has noticed that the old client is gone.
    const next = await connect(url, 'legacy');
    const [wait] = await runtime.client.listWaits();
    await runtime.client.answerWait(String(wait?.id), { approved: true });
    const told = await next.callTool({ name: 'helper', arguments: { thread: wait?.threadId } });
    expect(toldOf(told)).toMatchObject({ status: 'answered', text: 'Booked.' });
  });

  it('is not started as another call if its answer arrives without its state', async () => {
    const model = scriptedModel([calls('book', {})]);
    const { runtime, api } = await door({ model, tools: { book } });
    const call = (more: object) => {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
      };
      const params = { name: 'helper', arguments: { message: 'go' }, _meta, ...more };
      return api.call(
        'POST',
        '/mcp',
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
        {
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'helper',
        },
      );
    };
    expect((await call({})).body).toContain('"resultType":"input_required"');
    const [wait] = await runtime.client.listWaits();
    const answers = { [String(wait?.id)]: { action: 'accept', content: { approved: true } } };
    expect((await call({ inputResponses: answers })).body).toContain('InvalidMessage');
    expect(await runtime.client.listWaits()).toHaveLength(1);
    await runtime.client.terminate(String(wait?.threadId));
  });

  it('is answered over any connection by a token that may answer and reach its thread', async () => {
    const model = scriptedModel([calls('book', {}), says('Booked.')]);
    const tokens = ['ada=read+write+answer@ada', 'bob=read+write+answer@bob', 'eve=read+write@ada'];
    const access = tokenAccess(tokens.map((each) => `token-of-nobody-${each}`).join(','));
    const { runtime, api, url } = await door({ model, tools: { book } }, access);
    const client = await connect(url, 'legacy', { authorization: 'Bearer token-of-nobody-ada' });
    const told = toldOf(await client.callTool({ name: 'helper', arguments: { message: 'go' } }));
    const [wait] = await runtime.client.listWaits({ threadId: told.thread });
    const answer = {
      jsonrpc: '2.0',
      id: wait?.id,
      result: { action: 'accept', content: { approved: true } },
    };
    const headers = (who: string) => ({
      authorization: `Bearer token-of-nobody-${who}`,
      accept: 'application/json, text/event-stream',
    });
    expect(await api.call('POST', '/mcp', answer, headers('bob'))).toMatchObject({ status: 404 });
    expect(await api.call('POST', '/mcp', answer, headers('eve'))).toMatchObject({ status: 403 });
    expect(await runtime.client.listWaits({ threadId: told.thread })).toHaveLength(1);
    expect(await api.call('POST', '/mcp', answer, headers('ada'))).toMatchObject({ status: 202 });
    await runtime.client.waitForIdle(told.thread);
    expect(await runtime.transcript(told.thread)).toContain('assistant: Booked.');
  });
});
