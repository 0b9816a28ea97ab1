/** A worker whose agent delegates everything to an agent of another Everthread, at the address in `EVERTHREAD_TEST_PEER`. */
import {
  defineA2aAgent,
  defineAgent,
  defineModel,
  definePrompt,
  registryFrom,
} from '../../src/definitions/index.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import { runWorkerProcess } from '../support/run-worker-process.ts';

await runWorkerProcess(({ modelUrl }) =>
  registryFrom({
    agents: [defineAgent({ name: 'helper', sideA: { prompt: 'main' } })],
    prompts: [
      definePrompt({
        name: 'main',
        toolDescription: 'the main prompt',
        prompt: 'You delegate.',
        model: 'scripted',
        includeChat: true,
        tools: ['a2a:peer'],
      }),
    ],
    models: [
      defineModel({
        name: 'scripted',
        provider: openaiCompatible({ baseUrl: modelUrl, apiKey: 'x' }),
        model: 'scripted-1',
      }),
    ],
    a2aAgents: {
      peer: defineA2aAgent({
        description: 'Does it.',
        url: process.env.EVERTHREAD_TEST_PEER as string,
        idempotent: true,
      }),
    },
  }),
);
