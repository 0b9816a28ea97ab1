/** Tool loops on real threads with published packages of the AI SDK, against servers that enforce their providers' rules. */
import { afterEach, expect, it } from '@jest/globals';
import { createAnthropic } from 'ai-sdk-anthropic-7';
import { defineTool } from '../../../src/index.ts';
import { aiSdk } from '../../../src/models/index.ts';
import type { ScriptedModel } from '../../../src/testing/index.ts';
import { agentOf } from '../../support/agent-of.ts';
import { testRuntime } from '../../support/runtime.ts';
import { type Block, strictAnthropic } from './strict-anthropic.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const add = defineTool({ description: 'Adds.', execute: async () => ({ status: 'success', result: '3' }) });
const thought: Block = { type: 'thinking', thinking: 'I should add these.', signature: 'sig-1' };
const hidden: Block = { type: 'redacted_thinking', data: 'cmVkYWN0ZWQ=' };
const call: Block = { type: 'tool_use', id: 'toolu_1', name: 'add', input: { a: 1, b: 2 } };

it('a tool loop with thinking goes on with Anthropic, whose blocks return as they came', async () => {
  const server = await strictAnthropic([[thought, hidden, call], [{ type: 'text', text: 'Three.' }]]);
  closing.push(server.close);
  const sdk = createAnthropic({ apiKey: 'k', baseURL: server.url });
  const script = { provider: aiSdk((id) => sdk(id)) } as unknown as ScriptedModel;
  const thinking = { type: 'enabled', budgetTokens: 2000 };
  const registry = agentOf({ 'claude-sonnet-4-5': { script, providerOptions: { thinking } } }, {}, { add });
  const runtime = await testRuntime({ registry });
  const id = await runtime.start('1 + 2?');
  expect(server.refusals).toEqual([]);
  expect(await runtime.transcript(id)).toEqual([
    'user: 1 + 2?',
    'assistant:  -> add',
    'tool add success: 3',
    'assistant: Three.',
  ]);
  await runtime.say(id, 'And now?');
  expect((await runtime.transcript(id)).at(-1)).toBe('assistant: Done.');
  expect(server.requests[1]?.messages[1]?.content).toEqual([thought, hidden, call]);
});
