/** A worker with an agent for each server of MCP that its folder's `servers.json` names, for tests that kill it. */
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

/** By the names of servers, which are those of their agents. */
export type KilledServers = Readonly<
  Record<string, { readonly tool: string; readonly server: Parameters<typeof defineMcpServer>[0] }>
>;

await runWorkerProcess(
  ({ modelUrl, folder }) => {
    const servers: KilledServers = JSON.parse(readFileSync(join(folder, 'servers.json'), 'utf8'));
    const known = Object.entries(servers);
    return registryFrom({
      agents: known.map(([name]) => defineAgent({ name, sideA: { prompt: `${name}_prompt` } })),
      prompts: known.map(([name, { tool }]) =>
        definePrompt({
          name: `${name}_prompt`,
          toolDescription: name,
          prompt: 'You help.',
          model: 'scripted',
          includeChat: true,
          tools: [`mcp:${name}/${tool}`],
        }),
      ),
      models: [
        defineModel({
          name: 'scripted',
          provider: openaiCompatible({ baseUrl: modelUrl, apiKey: 'x' }),
          model: 'scripted-1',
        }),
      ],
      mcpServers: Object.fromEntries(known.map(([name, { server }]) => [name, defineMcpServer(server)])),
    });
  },
  () => {},
);
