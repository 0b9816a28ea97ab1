/**
 * For tests that kill it: a worker with an agent for each tool named in its folder's `servers.json`, and with the MCP
 * servers that have these tools.
 */
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

export interface KilledServers {
  /** MCP servers by name. */
  readonly servers: Readonly<Record<string, Parameters<typeof defineMcpServer>[0]>>;
  /** The only tool of each agent, as `<server>/<tool>`, by the agent's name. */
  readonly tools: Readonly<Record<string, string>>;
}

await runWorkerProcess(
  ({ modelUrl, folder }) => {
    const { servers, tools }: KilledServers = JSON.parse(readFileSync(join(folder, 'servers.json'), 'utf8'));
    const known = Object.entries(tools);
    return registryFrom({
      agents: known.map(([name]) => defineAgent({ name, sideA: { prompt: `${name}_prompt` } })),
      prompts: known.map(([name, tool]) =>
        definePrompt({
          name: `${name}_prompt`,
          toolDescription: name,
          prompt: 'You help.',
          model: 'scripted',
          includeChat: true,
          tools: [`mcp:${tool}`],
        }),
      ),
      models: [
        defineModel({
          name: 'scripted',
          provider: openaiCompatible({ baseUrl: modelUrl, apiKey: 'x' }),
          model: 'scripted-1',
        }),
      ],
      mcpServers: Object.fromEntries(
        Object.entries(servers).map(([name, server]) => [name, defineMcpServer(server)]),
      ),
    });
  },
  () => {},
);
