/** A worker whose agent has tools of MCP servers that take as long as they are let, for tests that kill it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  defineAgent,
  defineMcpServer,
  defineModel,
  definePrompt,
  registryFrom,
} from '../../src/definitions/index.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import { runWorkerProcess } from '../support/run-worker-process.ts';

const PLAIN = join(import.meta.dirname, 'plain-server.mjs');

await runWorkerProcess(
  ({ modelUrl, folder }) => {
    const server = (name: string, idempotent: true | string[]) =>
      defineMcpServer({ command: process.execPath, args: [PLAIN, join(folder, name)], idempotent });
    const far = (name: string, idempotent: true | string[]) =>
      defineMcpServer({
        url: readFileSync(join(folder, `${name}.url`), 'utf8'),
        timeoutMs: 300_000,
        idempotent,
      });
    return registryFrom({
      agents: [defineAgent({ name: 'helper', sideA: { prompt: 'main' } })],
      prompts: [
        definePrompt({
          name: 'main',
          toolDescription: 'the main prompt',
          prompt: 'You help.',
          model: 'scripted',
          includeChat: true,
          tools: ['once', 'again', 'far_once', 'far_again'].map((name) => `mcp:${name}/hold`),
        }),
      ],
      models: [
        defineModel({
          name: 'scripted',
          provider: openaiCompatible({ baseUrl: modelUrl, apiKey: 'x' }),
          model: 'scripted-1',
        }),
      ],
      mcpServers: {
        once: server('once', []),
        again: server('again', ['hold']),
        far_once: far('far_once', []),
        far_again: far('far_again', true),
      },
    });
  },
  () => {},
);
