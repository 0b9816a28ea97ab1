/**
 * A project whose faults are switched by a file, `control.json`: agents `steady`, `shaky` (its model may be down), `free`
 * (its model may have no price) and `narrow` (its model answers one request at a time, in ten seconds).
 */
export interface Control {
  readonly down?: boolean;
  readonly blocks?: boolean;
}

export interface ModelTerms {
  readonly prices?: boolean;
  readonly concurrency?: number;
}

const NAMES = ['steady', 'shaky', 'free', 'narrow'] as const;

export function modelFile(name: (typeof NAMES)[number], { prices = true, concurrency }: ModelTerms = {}) {
  return {
    [`agents/models/${name}.ts`]: `
import { readFileSync } from 'node:fs';
import { defineModel } from 'everthread';
import { calls, fails, hangs, says, scriptedModel } from 'everthread/testing';
const model = scriptedModel((request) => {
  const { down } = JSON.parse(readFileSync('control.json', 'utf8'));
  if (down && '${name}' === 'shaky') return fails({ status: 503, message: 'down for maintenance' });
  const last = request.messages.at(-1);
  const text = typeof last.content === 'string' ? last.content : JSON.stringify(last.content);
  if (last.role === 'tool') return says('It is done.', { chunks: 3, chunkDelayMs: 20 });
  const tool = ['weather', 'pay', 'compute', 'ask'].find((each) => text.includes(each));
  if (tool) return calls(tool, {});
  if (text.includes('hang')) return hangs({ after: 'I begin, and' });
  return { ...says('You said: ' + text, { chunks: 3, chunkDelayMs: 20 }), delayMs: '${name}' === 'narrow' ? 10_000 : 0 };
});
export default defineModel({
  name: '${name}', provider: model.provider, model: '${name}-1',
  ${prices ? 'inputPrice: 1, outputPrice: 2,' : ''} ${concurrency ? `concurrency: ${concurrency},` : ''}
});
`,
  };
}

const agent = (name: string): Record<string, string> => ({
  [`agents/agents/${name}.ts`]: `
import { defineAgent } from 'everthread';
export default defineAgent({ name: '${name}', sideA: { prompt: '${name}_prompt' } });
`,
  [`agents/prompts/${name}_prompt.ts`]: `
import { definePrompt } from 'everthread';
export default definePrompt({
  name: '${name}_prompt', toolDescription: 'Talks.', prompt: 'You talk.', model: '${name}', includeChat: true,
  tools: ['weather', 'pay', 'compute', 'ask'],
});
`,
});

const tool = (name: string, body: string, more = ''): Record<string, string> => ({
  [`agents/tools/${name}.ts`]: `
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { defineTool } from 'everthread';
const success = { status: 'success', result: 'done' };
export default defineTool({ description: 'Does ${name}.', ${more} execute: async (state) => { ${body} } });
`,
});

export const MONITORED: Readonly<Record<string, string>> = {
  ...Object.assign({}, ...NAMES.map(agent)),
  ...modelFile('steady'),
  ...modelFile('shaky'),
  ...modelFile('free', { prices: false }),
  ...modelFile('narrow', { concurrency: 1 }),
  ...tool('weather', 'return success;'),
  ...tool('pay', 'await delay(600_000); return success;'),
  // Blocks for a second and a half at a time, as a tool does that computes.
  ...tool(
    'compute',
    `while (JSON.parse(readFileSync('control.json', 'utf8')).blocks) {
       for (const end = performance.now() + 1500; performance.now() < end; );
       await delay(20);
     }
     return success;`,
  ),
  ...tool('ask', `await state.ask({ key: 'name', question: 'For whom?' }); return success;`, 'asks: true,'),
  'control.json': '{}',
};
