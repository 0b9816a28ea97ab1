/**
 * Agents as tools of an MCP server, with the unmodified client of the SDK, in both versions of the protocol, and over
 * standard streams.
 */

import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from '../../src/definitions/index.ts';
import { tokenAccess } from '../../src/server/api/access.ts';
import { calls, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { connect, door, toldOf } from '../support/mcp-door.ts';
import { eventually } from '../support/runtime.ts';

describe.each(['auto', 'legacy'] as const)('an agent as a tool, for a client that speaks %s', (mode) => {
  it('is listed, answers with its thread, and continues it', async () => {
    const model = scriptedModel([calls('look', {}), says('Four.'), says('Five.')]);
    const look = defineTool({ description: 'looks', execute: () => ({ status: 'success', result: 'seen' }) });
    const { runtime, url } = await door({ model, tools: { look } });
    const client = await connect(url, mode);
    expect(client.getProtocolEra()).toBe(mode === 'auto' ? 'modern' : 'legacy');
    expect((await client.listTools()).tools).toMatchObject([{ name: 'helper', title: 'Helper' }]);
    const words: unknown[] = [];
    const first = await client.callTool(
      { name: 'helper', arguments: { message: 'Two and two?' } },
      { onprogress: ({ message }) => void words.push(message) },
    );
    expect(first).toMatchObject({
      content: [{ text: 'Four.' }, {}],
      structuredContent: { status: 'answered' },
    });
    expect(words).toEqual(['thinking', 'running look', 'thinking']);
    const { thread } = toldOf(first);
    const second = await client.callTool({ name: 'helper', arguments: { message: 'And one?', thread } });
    expect(second).toMatchObject({ structuredContent: { thread, text: 'Five.' } });
    // The same result again, for a client whose connection was cut.
    const again = await client.callTool({ name: 'helper', arguments: { thread } });
    expect(toldOf(again)).toEqual(toldOf(second));
    expect((await runtime.transcript(thread)).filter((line) => line.startsWith('user'))).toHaveLength(2);
  });
});

describe('an agent whose answer has a type', () => {
  it('gives the value as structured content', async () => {
    const model = scriptedModel([says('warm'), says('{"degrees":21}')]);
    const { url } = await door({ model, side: { output: z.object({ degrees: z.number() }) } });
    const client = await connect(url, 'auto');
    const { structuredContent } = await client.callTool({ name: 'helper', arguments: { message: 'Bern?' } });
    expect(structuredContent).toMatchObject({ text: '{"degrees":21}', output: { degrees: 21 } });
  });
});

describe('the files written by an agent', () => {
  it('are in the result: pictures, texts, and large ones by address, readable by tokens that reach the thread', async () => {
    const write = defineTool({
      description: 'writes',
      execute: async (state) => {
        await state.writeFile('/plot.png', new Uint8Array([1, 2, 3]), 'image/png');
        await state.writeFile('/a b/notes.txt', 'Four.', 'text/plain');
        await state.writeFile('/large.csv', 'x'.repeat(2 << 20), 'text/csv');
        return { status: 'success', result: 'written' };
      },
    });
    const model = scriptedModel([calls('write', {}), says('See.')]);
    const { url } = await door({ model, tools: { write } });
    const client = await connect(url, 'auto');
    const { content, structuredContent } = await client.callTool({
      name: 'helper',
      arguments: { message: 'go' },
    });
    const { thread, files } = structuredContent as { thread: string; files: { uri: string; name: string }[] };
    const at = `everthread://threads/${thread}/files`;
    expect(content.slice(2)).toEqual([
      { type: 'image', data: 'AQID', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: `${at}/a%20b/notes.txt`, mimeType: 'text/plain', text: 'Four.' } },
      {
        type: 'resource_link',
        uri: `${at}/large.csv`,
        name: 'large.csv',
        mimeType: 'text/csv',
        size: 2 << 20,
      },
    ]);
    expect(files.map(({ name }) => name)).toEqual(['plot.png', 'notes.txt', 'large.csv']);
    const { contents } = await client.readResource({ uri: `${at}/a%20b/notes.txt` });
    expect(contents).toEqual([{ uri: `${at}/a%20b/notes.txt`, mimeType: 'text/plain', text: 'Four.' }]);
    await expect(client.readResource({ uri: `${at}/none` })).rejects.toThrow('FileNotFound');
    await expect(client.readResource({ uri: 'everthread://threads/other/files/plot.png' })).rejects.toThrow(
      'ThreadNotFound',
    );
    await expect(client.readResource({ uri: 'file:///etc/passwd' })).rejects.toThrow('FileNotFound');
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([{ name: 'file' }]);
  });
});

describe('a call of an agent', () => {
  it('that waits for a person ends with that information, and can be awaited with its thread after the answer', async () => {
    const model = scriptedModel([calls('book', {}), says('Booked.')]);
    const book = defineTool({
      description: 'books',
      confirm: () => 'Book it?',
      execute: () => ({ status: 'success', result: 'ok' }),
    });
    const { runtime, url } = await door({ model, tools: { book } });
    const client = await connect(url, 'auto');
    const told = toldOf(await client.callTool({ name: 'helper', arguments: { message: 'go' } }));
    expect(told).toMatchObject({ status: 'waits', waits: [{ kind: 'approval', summary: 'Book it?' }] });
    const [wait] = await runtime.client.listWaits({ threadId: told.thread });
    await runtime.client.answerWait(String(wait?.id), { approved: true });
    const after = await client.callTool({ name: 'helper', arguments: { thread: told.thread } });
    expect(toldOf(after)).toMatchObject({ status: 'answered', text: 'Booked.', execution: told.execution });
  });

  it('that is cancelled cancels its own execution only', async () => {
    const model = scriptedModel([hangs(), says('Still here.')]);
    const { runtime, url } = await door({ model });
    const client = await connect(url, 'auto');
    const cancel = new AbortController();
    const call = client.callTool(
      { name: 'helper', arguments: { message: 'go' } },
      { signal: cancel.signal, onprogress: () => cancel.abort() },
    );
    await expect(call).rejects.toThrow();
    const thread = await eventually('the end of the execution', async () => {
      const [found] = await runtime.client.listThreads({ agent: 'helper', status: 'stopped' });
      return found;
    });
    expect(await runtime.client.getExecution(thread.id)).toMatchObject({
      canceled: { reason: 'canceled by the client' },
    });
    const next = await client.callTool({
      name: 'helper',
      arguments: { message: 'again', thread: thread.id },
    });
    expect(toldOf(next)).toMatchObject({ text: 'Still here.' });
  });

  it('whose thread is terminated meanwhile fails, whatever the text before', async () => {
    const model = scriptedModel([calls('look', {}, { text: 'Let me see.' }), hangs()]);
    const look = defineTool({ description: 'looks', execute: () => ({ status: 'success', result: 'seen' }) });
    const { runtime, url } = await door({ model, tools: { look } });
    const client = await connect(url, 'auto');
    const call = client.callTool({ name: 'helper', arguments: { message: 'go' } });
    const thread = await eventually('the second request to the model', async () => {
      const [found] = await runtime.client.listThreads({ agent: 'helper', status: 'running' });
      return model.remaining === 0 && found ? found : undefined;
    });
    await runtime.client.terminate(thread.id, 'enough');
    expect(await call).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('enough') }, {}],
    });
  });

  it('that fails, or names an unknown agent or invalid fields, is an error that the client reads', async () => {
    const { url } = await door({ model: scriptedModel([]) });
    const client = await connect(url, 'auto');
    const call = async (name: string, given: Record<string, unknown>) => {
      const { isError, content } = await client.callTool({ name, arguments: given });
      return isError ? (content[0] as { text: string }).text.split(':')[0] : 'no error';
    };
    expect(await call('nobody', { message: 'x' })).toBe('AgentNotFound');
    expect(await call('helper', { mesage: 'x' })).toBe('InvalidMessage');
    expect(await call('helper', {})).toBe('InvalidMessage');
    expect(await call('helper', { message: 'x', thread: 'none' })).toBe('ThreadNotFound');
  });

  it('has the access of the API: tokens, scopes, and the threads of their users', async () => {
    const model = scriptedModel([says('Hello.')]);
    const access = tokenAccess(
      ['reads=read', 'ada=read+write@ada', 'bob=read+write@bob']
        .map((each) => `token-of-nobody-${each}`)
        .join(','),
    );
    const { api, url, runtime } = await door({ model }, access);
    expect(await api.call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' })).toMatchObject({
      status: 401,
      body: { code: 'Unauthorized' },
    });
    const as = async (token: string, given: Record<string, unknown>) => {
      const client = await connect(url, 'auto', { authorization: `Bearer token-of-nobody-${token}` });
      return client.callTool({ name: 'helper', arguments: given });
    };
    const { thread } = toldOf(await as('ada', { message: 'Hi' }));
    expect(await runtime.client.getThread(thread)).toMatchObject({ userId: 'ada' });
    expect(await as('bob', { thread })).toMatchObject({ isError: true });
    expect(await as('reads', { message: 'Hi' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Forbidden') }],
    });
  });
});
