/** One tool that a provider would refuse silences neither its agent nor the other tools of its server. */
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { defineMcpServer } from '../../src/definitions/index.ts';
import { closeConnections } from '../../src/remote/mcp/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { testRuntime } from '../support/runtime.ts';
import { strictChat } from '../support/strict-chat.ts';

const RUDE = join(import.meta.dirname, 'rude-server.mjs');

afterEach(closeConnections);

const serverThat = (how: string) => defineMcpServer({ command: process.execPath, args: [RUDE, how] });

describe('an agent whose MCP server', () => {
  it('has tools without properties, with unions and with references answers, and calls them', async () => {
    const chat = await strictChat(
      scriptedModel([says('hello'), calls('mcp__rude__union', { a: 'x' }), says('done')]),
    );
    const runtime = await testRuntime({
      model: chat.model,
      mcpServers: { rude: serverThat('describes its tools in its own way') },
      prompt: { tools: ['mcp:rude/do', 'mcp:rude/union', 'mcp:rude/text', 'mcp:rude/refers'] },
    });
    const id = await runtime.start('hello');
    await runtime.say(id, 'call it');
    expect(await runtime.transcript(id)).toEqual([
      'user: hello',
      'assistant: hello',
      'user: call it',
      'assistant:  -> mcp__rude__union',
      'tool mcp__rude__union success: done',
      'assistant: done',
    ]);
    expect(chat.refusals).toEqual([]);
    expect(chat.offered[0]).toEqual(['mcp__rude__do', 'mcp__rude__union', 'mcp__rude__refers']);
    const log = await runtime.store.events.read(id, 0);
    expect(log.find(({ type }) => type === 'mcp.listed')?.data).toMatchObject({
      tools: ['do', 'union', 'refers'],
      left: [{ tool: 'text', why: 'its arguments are no object' }],
    });
  });

  it('has a tool that the provider still refuses continues without it, and reports it once per execution', async () => {
    const chat = await strictChat(
      scriptedModel([calls('mcp__rude__do', {}), says('hello'), says('again')]),
      ({ name }) => (name === 'mcp__rude__union' ? 'it is not liked.' : undefined),
    );
    const runtime = await testRuntime({
      model: chat.model,
      mcpServers: { rude: serverThat('describes its tools in its own way') },
      prompt: { tools: ['mcp:rude/do', 'mcp:rude/union'] },
    });
    const id = await runtime.start('hello');
    expect((await runtime.transcript(id)).at(-1)).toBe('assistant: hello');
    const told = async () =>
      (await runtime.store.events.read(id, 0)).flatMap((event) =>
        event.type === 'model.failed' ? [event.data] : [],
      );
    const failure = expect.objectContaining({
      withoutTool: 'mcp__rude__union',
      retryInMs: 0,
      statusCode: 400,
    });
    expect(await told()).toEqual([failure]);
    await runtime.say(id, 'again');
    expect(await told()).toEqual([failure, failure]);
    expect(chat.refusals).toEqual(
      Array(2).fill("Invalid schema for function 'mcp__rude__union': it is not liked."),
    );
    expect(chat.offered).toEqual(Array(3).fill(['mcp__rude__do']));
  });

  it('has an argument named __proto__ gets it as data', async () => {
    const given = '{"a":{"__proto__":{"b":1}},"__proto__":{"polluted":true}}';
    const runtime = await testRuntime({
      model: scriptedModel([calls('mcp__rude__do', JSON.parse(given)), says('done')]),
      mcpServers: { rude: serverThat('repeats its arguments') },
      prompt: { tools: ['mcp:rude/do'] },
    });
    const id = await runtime.start('go');
    expect(await runtime.transcript(id)).toContain(`tool mcp__rude__do success: ${given}`);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});
