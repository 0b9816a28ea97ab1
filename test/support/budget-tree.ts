/**
 * A tree of 13 threads: a lead, three concurrent branches, and three leaves per branch, one after another. The first
 * model fails now and then, so that it is retried or its fallback is used. An answer's text depends on the request
 * alone, its token counts on the request's number.
 */
import { z } from 'zod';
import type { Registry } from '../../src/core/author/registry.ts';
import {
  type AgentInput,
  defineAgent,
  defineModel,
  definePrompt,
  defineTool,
  registryFrom,
} from '../../src/definitions/index.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import {
  calls,
  callsMany,
  fails,
  type RecordedRequest,
  type ScriptFunction,
  type ScriptStep,
  says,
} from '../../src/testing/index.ts';

export const THREADS = 13;
/** Number of children of the lead and of each branch. */
const BELOW = 3;
/** US dollars per 1,000,000 tokens. */
export const PRICES = { inputPrice: 3, outputPrice: 11 };
/** Maximum output tokens of both models. */
export const OUTPUT_CAP = 100;

const CHILD: Partial<AgentInput> = { type: 'dual_ai', exposeAsTool: true, toolDescription: 'does it' };
const task = z.object({ task: z.string() });

export function treeRegistry({ modelUrl }: { readonly modelUrl: string }): Registry {
  const prompt = (name: string, fields: Partial<Parameters<typeof definePrompt>[0]>) =>
    definePrompt({
      ...{ name: `${name}_desk`, toolDescription: name, prompt: name, model: 'first' },
      ...{ includeChat: true, includePastTools: true, ...fields },
    });
  const child = (name: string) =>
    defineAgent({
      name,
      ...CHILD,
      sideA: { prompt: `${name}_desk`, sessionStop: { name: 'finish', messageProperty: 'line' } },
      sideB: { prompt: 'checker_desk' },
    });
  const model = (name: string, fallbacks: string[]) =>
    defineModel({
      ...{ name, model: name, fallbacks, ...PRICES },
      provider: openaiCompatible({ baseUrl: modelUrl, apiKey: 'x' }),
      capabilities: { maxOutputTokens: OUTPUT_CAP },
    });
  return registryFrom({
    agents: [defineAgent({ name: 'lead', sideA: { prompt: 'lead_desk' } }), child('branch'), child('leaf')],
    prompts: [
      prompt('lead', {
        tools: [{ name: 'branch', blocking: false, resumable: { receives_messages: 'side_a' } }],
      }),
      prompt('branch', { tools: ['finish', { name: 'leaf', initUserMessageProperty: 'task' }] }),
      prompt('leaf', { tools: ['finish'], requiredSchema: task }),
      prompt('checker', {}),
    ],
    models: [model('first', ['spare']), model('spare', [])],
    tools: {
      finish: defineTool({
        description: 'hands in',
        args: z.object({ line: z.string() }),
        idempotent: true,
        execute: () => ({ status: 'success' }),
      }),
    },
  });
}

/**
 * Records in `counted` the completion tokens of each request. The key is its `promptTokens`, which are 1,000 plus its
 * number.
 */
export function treeScript(counted: Map<number, number>): ScriptFunction {
  return (request, index) => {
    // A 503 is retried; a 404 leads to the fallback.
    if (request.model === 'first' && index % 7 === 3)
      return fails({ status: 503, message: 'busy', retryAfter: 0 });
    if (request.model === 'first' && index % 11 === 5) return fails({ status: 404, message: 'not here' });
    const completionTokens = Math.min(1 + (index % 5), request.maxOutputTokens ?? OUTPUT_CAP);
    const promptTokens = 1000 + index;
    counted.set(promptTokens, completionTokens);
    const step = answer(request);
    const usage = { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
    return step.kind === 'answer' ? { ...step, usage, delayMs: 60 } : step;
  };
}

function answer({ messages }: RecordedRequest): ScriptStep {
  const [{ content: who } = { content: '' }] = messages;
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const results = messages.slice(last).filter(({ role }) => role === 'tool').length;
  const below = Array.from({ length: BELOW }, (_, index) => `${index + 1}`);
  if (who === 'leaf' || results > 0)
    return who === 'lead' ? says('Heard.') : calls('finish', { line: 'done' });
  if (who === 'branch') return callsMany(below.map((each) => ({ name: 'leaf', args: { task: each } })));
  if (String(messages[last]?.content).startsWith('Subagent')) return says('Heard.');
  return callsMany(
    below.map((message) => ({
      name: 'subagent_create',
      args: { agent: 'branch', name: `Branch ${message}`, message, attachments: [] },
    })),
  );
}
