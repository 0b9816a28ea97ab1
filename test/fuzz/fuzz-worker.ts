/**
 * The worker under attack, as a separate process: the agent "helper" is healthy and talks to a scripted model; the
 * agent "victim" talks to a hostile provider and has a tool that runs seeded programs in the sandbox.
 */

import { z } from 'zod';
import {
  defineAgent,
  defineModel,
  definePrompt,
  defineTool,
  registryFrom,
} from '../../src/definitions/index.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import { runWorkerProcess } from '../support/run-worker-process.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { program } from './program-door.ts';

const hostileUrl = process.env.EVERTHREAD_FUZZ_PROVIDER as string;

const hostCalls = defineTool({
  description: 'runs a seeded program that calls host functions',
  args: z.object({ seed: z.number() }),
  execute: async (state, { seed }) => {
    const run = state.runCode(program(seededRandom(`program/${seed}`)), {
      globals: {
        echo: (value: unknown) => value,
        fails: () => {
          throw new Error('refused');
        },
      },
      report: () => undefined,
    });
    const { status } = await run;
    return { status: 'success', result: status };
  },
});

const talk = { toolDescription: 'talks', prompt: 'You talk.', includeChat: true, includePastTools: true };

const tick = defineTool({
  description: 'answers at once',
  args: z.object({ line: z.string() }),
  execute: async (_state, { line }) => ({ status: 'success', result: `ticked ${line}` }),
});

await runWorkerProcess(({ modelUrl }) =>
  registryFrom({
    agents: [
      defineAgent({ name: 'helper', sideA: { prompt: 'healthy' } }),
      defineAgent({ name: 'victim', sideA: { prompt: 'hostile', maxSteps: 6 } }),
    ],
    prompts: [
      definePrompt({ ...talk, name: 'healthy', model: 'scripted', tools: ['tick'] }),
      definePrompt({ ...talk, name: 'hostile', model: 'hostile', tools: ['host_calls', 'run_code'] }),
    ],
    models: [
      defineModel({
        name: 'scripted',
        provider: openaiCompatible({ baseUrl: modelUrl, apiKey: 'x' }),
        model: 'scripted-1',
      }),
      defineModel({
        name: 'hostile',
        provider: openaiCompatible({ baseUrl: hostileUrl, apiKey: 'x' }),
        model: 'fuzz',
      }),
    ],
    tools: { tick, host_calls: hostCalls },
  }),
);
