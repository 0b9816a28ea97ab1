/**
 * What a prompt offers of the tools of MCP servers: as their servers told them when the execution first came to ask, and not otherwise.
 * O1. Within an execution a list stays as it was: a server that changes its mind is heard by the next one, and the log says what changed.
 * O2. A server that cannot be asked costs its own tools and nothing else; it is asked again after a while.
 * O3. What is offered has a name that the author has written: whatever a server lists beside it, nobody is shown.
 */
import type { PromptDefinition, Registry, ToolDefinition } from '../../core/author/definition.ts';
import type { McpServerDefinition } from '../../core/author/mcp-server.ts';
import type { ProviderTool } from '../../core/message/provider.ts';
import { errorMessage, isRuntimeError, isStoreTrouble } from '../../core/value/error.ts';
import { isMcpFailure, listTools, withConnection } from '../../mcp/index.ts';
import { openEnv } from '../../state/env.ts';
import { fillReach } from '../../state/mcp-call.ts';
import { retryWhileUnavailable } from '../../state/retry-while-unavailable.ts';
import type { McpList } from '../../store/port/mcp.ts';
import type { StepContext } from '../../store/port/step.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';

/** By the name that models call it by. */
export type McpOffer = ReadonlyMap<string, ProviderTool['function']>;

export const NO_MCP: McpOffer = new Map();

/** O2: not with each step. */
const AGAIN_AFTER_MS = 60_000;

/** Nothing is read or asked where the prompt lists none. */
export async function readMcpOffer(
  dependencies: ActivityDependencies,
  { thread, executionId, step }: Pick<StepContext, 'thread' | 'executionId' | 'step'>,
  prompt: PromptDefinition,
): Promise<McpOffer> {
  const listed = new Set(prompt.tools.flatMap(({ mcp }) => (mcp ? [mcp.server] : [])));
  if (listed.size === 0) return NO_MCP;
  const { store } = dependencies;
  const registry = dependencies.registry();
  const kept = await retryWhileUnavailable(abortSignal(), () => store.mcp.list(thread.id, executionId));
  const lists = await Promise.all(
    [...listed].map((name) => {
      const known = kept.find(({ server }) => server === name);
      if (known && (known.tools || Date.now() - known.listedAt / 1000 < AGAIN_AFTER_MS)) return known;
      const server = registry.mcpServers.get(name);
      return server && ask(dependencies, server, { thread, executionId, step, prompt });
    }),
  );
  const tools = new Map(lists.flatMap((list) => [...toOffered(registry, list)]));
  return new Map(prompt.tools.flatMap(({ name }) => (tools.has(name) ? [[name, tools.get(name)!]] : [])));
}

type Asking = Pick<StepContext, 'thread' | 'executionId' | 'step'> & { readonly prompt: PromptDefinition };

async function ask(
  dependencies: ActivityDependencies,
  server: McpServerDefinition,
  { thread, executionId, step, prompt }: Asking,
): Promise<McpList> {
  const { store, registry } = dependencies;
  const signal = abortSignal();
  const tools = toolsOf(registry(), server.name);
  const env = openEnv(dependencies, thread, { signal, prompt });
  const keep = (told: Parameters<typeof store.mcp.keep>[0]['told']) =>
    retryWhileUnavailable(signal, () =>
      store.mcp.keep({ threadId: thread.id, server: server.name, executionId, step, told }),
    );
  try {
    const reach = await fillReach(server, (name) => env.bind(tools[0]).env(name));
    const { connectTimeoutMs: timeoutMs } = server;
    const wanted = new Set(tools.flatMap(({ remote }) => (remote ? [remote.tool] : [])));
    const place = { threadId: thread.id, reach, connectTimeoutMs: timeoutMs };
    const found = await withConnection(place, signal, (connection) =>
      listTools(connection, wanted, { signal, timeoutMs }),
    );
    return await keep({ tools: found });
  } catch (error) {
    if (signal.aborted || isRuntimeError(error) || isStoreTrouble(error)) throw error;
    const code = isMcpFailure(error) ? error.code : 'McpUnavailable';
    const { error: text = '' } = await env.redact({ status: 'error', error: errorMessage(error) });
    return keep({ code, error: text.slice(0, 1000) });
  }
}

/** All that any prompt lists of it: another prompt of the same execution finds its own among them. */
function toolsOf({ tools }: Registry, server: string): ToolDefinition[] {
  return [...tools.values()].filter(({ remote }) => remote?.server.name === server);
}

function* toOffered(
  registry: Registry,
  list: McpList | undefined,
): Generator<[string, ProviderTool['function']]> {
  if (!list?.tools) return;
  for (const { name, remote } of toolsOf(registry, list.server)) {
    const told = list.tools.find((each) => each.name === remote?.tool);
    if (told) yield [name, { name, description: told.description, parameters: told.parameters }];
  }
}
