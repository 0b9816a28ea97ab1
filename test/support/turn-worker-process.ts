/** The worker for tests of chat turns: its agent answers, and stores each final text in a file per key. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineAgent, defineModel, definePrompt, registryFrom } from '../../src/definitions/index.ts';
import { persistTurns } from '../../src/faces/tangle/index.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import { obey } from './fault-project.ts';
import { runWorkerProcess, type WorkerOrder } from './run-worker-process.ts';

const registry = ({ modelUrl, folder }: WorkerOrder) =>
  registryFrom({
    agents: [defineAgent({ name: 'helper', sideA: { prompt: 'main' }, hooks: ['persist_turns'] })],
    prompts: [
      definePrompt({
        ...{ name: 'main', toolDescription: 'answers', prompt: 'You answer.', model: 'm' },
        includeChat: true,
      }),
    ],
    models: [
      defineModel({
        name: 'm',
        provider: openaiCompatible({ baseUrl: modelUrl, apiKey: 'none' }),
        model: 'scripted-1',
      }),
    ],
    hooks: [
      persistTurns({
        persistAssistantMessage({ key, identity, finalText }) {
          mkdirSync(join(folder, 'kept'), { recursive: true });
          // As a database would: one entry per key.
          const file = join(folder, 'kept', encodeURIComponent(key));
          writeFileSync(
            file,
            JSON.stringify({ turn: identity.turnIndex, session: identity.sessionId, finalText }),
          );
        },
      }),
    ],
  });

await runWorkerProcess(registry, ({ folder }, point) => obey(folder, point));
