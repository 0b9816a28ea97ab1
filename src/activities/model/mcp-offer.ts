/**
 * The tools of MCP servers that a prompt offers, as the servers listed them when the execution first asked.
 * - Within an execution a server's list stays the same. A changed list takes effect in the next execution, and the
 *   log records what changed.
 * - A server that cannot be asked costs only its own tools; it is asked again after RETRY_AFTER_MS.
 * - Only tools that the author has named are offered: whatever else a server lists is never shown.
 */

import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import { fillReach } from '../../author/remote/mcp-call.ts';
import { openEnv } from '../../author/state/env.ts';
import type { PromptDefinition } from '../../core/author/definition.ts';
import type { McpServerDefinition } from '../../core/author/mcp-server.ts';
import type { Registry, ToolDefinition } from '../../core/author/registry.ts';
import type { ProviderTool } from '../../core/message/provider.ts';
import { errorMessage, isRuntimeError, isStoreFault } from '../../core/value/error.ts';
import { isMcpFailure, listTools, withConnection } from '../../remote/mcp/index.ts';
import type { McpList } from '../../store/mcp/mcp-record.ts';
import type { StepContext } from '../../store/step/step-place-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';

/** Keyed by the name that models use in calls. */
export type McpOffer = ReadonlyMap<string, ProviderTool['function']>;

export const NO_MCP: McpOffer = new Map();

/** Milliseconds until a failed server is asked again. */
const RETRY_AFTER_MS = 60_000;

/** Reads and asks nothing if the prompt lists no MCP tool. */
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
      if (known && (known.tools || Date.now() - known.listedAt / 1000 < RETRY_AFTER_MS)) return known;
      const server = registry.mcpServers.get(name);
      return server && askServer(dependencies, server, { thread, executionId, step, prompt });
    }),
  );
  const tools = new Map(lists.flatMap((list) => [...toOffered(registry, list)]));
  return new Map(prompt.tools.flatMap(({ name }) => (tools.has(name) ? [[name, tools.get(name)!]] : [])));
}

type OfferRequest = Pick<StepContext, 'thread' | 'executionId' | 'step'> & {
  readonly prompt: PromptDefinition;
};

async function askServer(
  dependencies: ActivityDependencies,
  server: McpServerDefinition,
  { thread, executionId, step, prompt }: OfferRequest,
): Promise<McpList> {
  const { store, registry } = dependencies;
  const signal = abortSignal();
  const tools = toolsOf(registry(), server.name);
  const env = openEnv(dependencies, thread, { signal, prompt });
  const keep = (listed: Parameters<typeof store.mcp.save>[0]['told']) =>
    retryWhileUnavailable(signal, () =>
      store.mcp.save({ threadId: thread.id, server: server.name, executionId, step, told: listed }),
    );
  try {
    const reach = await fillReach(server, (name) => env.bind(tools[0]).env(name));
    const { connectTimeoutMs: timeoutMs } = server;
    const wanted = new Set(tools.flatMap(({ remote }) => (remote ? [remote.tool] : [])));
    const place = { threadId: thread.id, reach, connectTimeoutMs: timeoutMs };
    const { tools: found, left } = await withConnection(place, signal, (connection) =>
      listTools(connection, wanted, { signal, timeoutMs }),
    );
    return await keep({ tools: found, left });
  } catch (error) {
    if (signal.aborted || isRuntimeError(error) || isStoreFault(error)) throw error;
    const code = isMcpFailure(error) ? error.code : 'McpUnavailable';
    const { error: text = '' } = await env.redact({ status: 'error', error: errorMessage(error) });
    return keep({ code, error: text.slice(0, 1000) });
  }
}

/** All tools of the server that any prompt lists: another prompt of the same execution finds its own among them. */
function toolsOf({ tools }: Registry, server: string): ToolDefinition[] {
  return [...tools.values()].filter(({ remote }) => remote?.server.name === server);
}

function* toOffered(
  registry: Registry,
  list: McpList | undefined,
): Generator<[string, ProviderTool['function']]> {
  if (!list?.tools) return;
  for (const { name, remote } of toolsOf(registry, list.server)) {
    const listedTool = list.tools.find((each) => each.name === remote?.tool);
    if (listedTool)
      yield [name, { name, description: listedTool.description, parameters: listedTool.parameters }];
  }
}
