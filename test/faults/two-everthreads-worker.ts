/**
 * A worker whose agent delegates everything to the remote agents in `EVERTHREAD_TEST_PEERS`, a JSON object by their
 * names.
 */
import {
  defineA2aAgent,
  defineAgent,
  defineModel,
  definePrompt,
  registryFrom,
} from '../../src/definitions/index.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import { runWorkerProcess } from '../support/run-worker-process.ts';

const peers = JSON.parse(process.env.EVERTHREAD_TEST_PEERS as string) as Readonly<
  Record<string, { readonly url: string; readonly idempotent?: boolean }>
>;
const names = Object.keys(peers);

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
        tools: names.map((name) => `a2a:${name}` as const),
      }),
    ],
    models: [
      defineModel({
        name: 'scripted',
        provider: openaiCompatible({ baseUrl: modelUrl, apiKey: 'x' }),
        model: 'scripted-1',
      }),
    ],
    a2aAgents: Object.fromEntries(
      Object.entries(peers).map(([name, peer]) => [
        name,
        defineA2aAgent({ description: 'Does it.', ...peer }),
      ]),
    ),
  }),
);
