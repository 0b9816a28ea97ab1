/** A worker process whose project has tools that misbehave (`clumsy-tools.ts`) and one, `tick`, that works. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import {
  defineAgent,
  defineEffect,
  defineHook,
  defineModel,
  definePrompt,
  defineTool,
  registryFrom,
} from '../../src/definitions/index.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import { clumsyTools } from './clumsy-tools.ts';
import { runWorkerProcess } from './run-worker-process.ts';

const talk = { toolDescription: 'talks', prompt: 'You talk.', includeChat: true, includePastTools: true };

const tick = defineTool({
  description: 'answers at once',
  args: z.object({ line: z.string() }),
  execute: async (_state, { line }) => ({ status: 'success', result: `ticked ${line}` }),
});

/** Leaks a secret: in the error that it throws, and in a rejection that nothing handles. */
const tells = defineTool({
  description: 'tells a secret where it should not',
  execute: async (state) => {
    const secret = await state.env('TOKEN');
    void Promise.reject(new Error(`floating ${secret}`));
    throw new Error(`thrown ${secret}`, { cause: new Error(`caused by ${secret}`) });
  },
});

const schedules = defineTool({
  description: 'schedules the effect',
  execute: async (state) => {
    await state.scheduleEffect('strays');
    return { status: 'success' };
  },
});

const strays = defineEffect('strays', () => {
  void Promise.reject(new Error('stray of an effect'));
  process.exit(4);
});

const hook = defineHook({
  hook: 'after_tool_call_success',
  id: 'strays',
  execute: () => {
    void Promise.reject(new Error('stray of a hook'));
    process.exit(5);
  },
});

await runWorkerProcess(({ modelUrl, folder }) => {
  const clumsy = clumsyTools((name) => appendFileSync(join(folder, 'begun'), `${name}\n`));
  const tools = { ...clumsy, tick, tells, schedules };
  const scripted = openaiCompatible({ baseUrl: modelUrl, apiKey: 'x' });
  const main = { ...talk, model: 'scripted', tools: Object.keys(tools) };
  return registryFrom({
    agents: [
      defineAgent({ name: 'helper', sideA: { prompt: 'main' } }),
      defineAgent({ name: 'hooked', sideA: { prompt: 'main' }, hooks: ['strays'] }),
      defineAgent({ name: 'odd', sideA: { prompt: 'odd_talk' } }),
    ],
    prompts: [
      definePrompt({ ...main, name: 'main' }),
      definePrompt({ ...talk, name: 'odd_talk', model: 'odd_model' }),
    ],
    models: [
      defineModel({ name: 'scripted', provider: scripted, model: 'scripted-1' }),
      defineModel({
        name: 'odd_model',
        model: 'odd-1',
        capabilities: { supportsStreaming: false },
        provider: (options) => ({
          ...scripted(options),
          generate: () => {
            void Promise.reject(new Error('stray of a provider'));
            return process.exit(6);
          },
        }),
      }),
    ],
    tools,
    hooks: [hook],
    effects: { strays },
  });
});
