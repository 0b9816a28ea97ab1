/** A project whose model thinks: Claude, through the AI SDK, at a given address. */
import { createAnthropic } from 'ai-sdk-anthropic-7';
import {
  defineAgent,
  defineModel,
  definePrompt,
  defineTool,
  registryFrom,
} from '../../../src/definitions/index.ts';
import { aiSdk } from '../../../src/models/index.ts';
import type { Block } from './strict-anthropic.ts';

export const thought: Block = { type: 'thinking', thinking: 'I should add these.', signature: 'sig-1' };
export const hidden: Block = { type: 'redacted_thinking', data: 'cmVkYWN0ZWQ=' };
export const call: Block = { type: 'tool_use', id: 'toolu_1', name: 'add', input: { a: 1, b: 2 } };

const talk = { toolDescription: 'talks', model: 'claude', includeChat: true, includePastTools: true };

/** The agent `helper` may hand its thread over to `clerk`. */
export function thinkingProject(baseURL: string, prompt: object = {}) {
  const sdk = createAnthropic({ apiKey: 'k', baseURL });
  const add = defineTool({ description: 'Adds.', execute: async () => ({ status: 'success', result: '3' }) });
  return registryFrom({
    agents: [
      defineAgent({ name: 'helper', sideA: { prompt: 'main' } }),
      defineAgent({
        name: 'clerk',
        title: 'Clerk',
        exposeAsTool: true,
        toolDescription: 'a clerk',
        sideA: { prompt: 'desk' },
      }),
    ],
    prompts: [
      definePrompt({ ...talk, name: 'main', prompt: 'You help.', tools: ['add', 'clerk'], ...prompt }),
      definePrompt({ ...talk, name: 'desk', prompt: 'You are a clerk.', tools: ['add'], ...prompt }),
    ],
    models: [
      defineModel({
        name: 'claude',
        provider: aiSdk((id) => sdk(id)),
        model: 'claude-sonnet-4-5',
        providerOptions: { thinking: { type: 'enabled', budgetTokens: 2000 } },
      }),
    ],
    tools: { add },
  });
}
