/** One tool that a provider would refuse silences neither its agent nor the other tools of its server. */
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { defineMcpServer } from '../../src/definitions/index.ts';
import { closeConnections } from '../../src/mcp/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { testRuntime } from '../support/runtime.ts';
import { strictChat } from '../support/strict-chat.ts';

const RUDE = join(import.meta.dirname, 'rude-server.mjs');

afterEach(closeConnections);

const serverThat = (how: string) => defineMcpServer({ command: process.execPath, args: [RUDE, how] });

describe('an agent whose MCP server', () => {
  it('has tools without properties, with unions and with references says hello, and calls them', async () => {
    const chat = await strictChat(
      scriptedModel([says('hello'), calls('mcp__rude__union', { a: 'x' }), says('done')]),
    );
    const runtime = await testRuntime({
      model: chat.model,
      mcpServers: { rude: serverThat('describes its tools in its own way') },
      prompt: { tools: ['mcp:rude/do', 'mcp:rude/union', 'mcp:rude/refers'] },
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
  });
});
