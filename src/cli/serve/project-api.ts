/** The API of a project: its threads, its agents, its own endpoints. */
import { checkStoredArguments } from '../../author/tool/check-schema.ts';
import { readConfiguration } from '../../configuration.ts';
import type { AuthorSchema } from '../../core/author/author-schema.ts';
import type { SideDefinition } from '../../core/author/definition.ts';
import type { Registry } from '../../core/author/registry.ts';
import { errorMessage } from '../../core/value/error.ts';
import { toReferringParameters } from '../../definitions/tool-schema.ts';
import { tokenAccess } from '../../server/api/access.ts';
import { type Api, createApi } from '../../server/api/create-api.ts';
import type { AgentArguments, ApiAgent } from '../../server/api/host.ts';
import { storedAccess } from '../../server/api/stored-access.ts';
import { createEndpointHandler } from '../../server/endpoint.ts';
import type { FoundServer } from '../connection/find-server.ts';
import { requireProject } from '../connection/find-store.ts';
import { connectClient, requireServer } from '../connection/open-client.ts';
import { note } from '../output/output.ts';
import { type LiveProject, openProject } from '../project/live-project.ts';
import { startOpenTelemetry } from '../project/start-open-telemetry.ts';

export interface ProjectApi {
  readonly api: Api;
  /** The project; each request uses its agents and endpoints of that time. */
  readonly project: LiveProject;
  /** True if there are tokens, in the environment or in the store. */
  readonly asksForTokens: boolean;
  /** Where clients reach it, if that is configured. */
  readonly publicUrl: string | undefined;
  close(): Promise<void>;
}

interface ProjectApiOptions {
  readonly project: string;
  readonly taskQueue?: string | undefined;
  /** The project's Temporal server. Default: found by find-server.ts. */
  readonly server?: FoundServer;
  /** The project, if the caller has already opened it. */
  readonly live?: LiveProject;
}

/**
 * Opens a client of the project, and its agents as its files define them. Throws `InvalidDefinitions`,
 * `InvalidConfiguration`, `TemporalUnavailable`.
 */
export async function openProjectClient(options: ProjectApiOptions) {
  const { project, taskQueue } = options;
  requireProject(project);
  const server = await requireServer(project, options.server);
  const live = options.live ?? (await openProject(project));
  const { store } = readConfiguration();
  const client = await connectClient({ project, taskQueue, store, server });
  return { client, live, server, agents: () => agentsOf(live.current()), close: () => client.close() };
}

/** `origins`: those that are allowed beside the configured ones. Throws as `openProjectClient` does. */
export async function openProjectApi({
  origins = [],
  ...options
}: ProjectApiOptions & { readonly origins?: readonly string[] }): Promise<ProjectApi> {
  await startOpenTelemetry(options.project);
  const { apiTokens, apiOrigins, apiTraces, publicUrl, trustedProxies, uiUrl } = readConfiguration();
  const known = apiTokens === undefined ? null : tokenAccess(apiTokens);
  await using stack = new AsyncDisposableStack();
  const { client, live, server, agents } = await openProjectClient(options);
  stack.defer(() => client.close());
  const endpoints = await createEndpointHandler({ client, registry: live.current });
  stack.defer(() => endpoints.close());
  const onError = (error: unknown, request: Request) =>
    note(`${request.method} ${new URL(request.url).pathname} failed: ${errorMessage(error)}`);
  const stored = client.store;
  const api = createApi({
    client,
    access: storedAccess(stored, known),
    joinsTraces: apiTraces === 'join',
    endpoints,
    agents,
    origins: [...origins, ...apiOrigins],
    publicUrl,
    trustedProxies,
    uiUrl: uiUrl ?? server.uiUrl,
    onError,
  });
  const asksForTokens = known !== null || (await stored.tokens.list()).length > 0;
  const opened = stack.move();
  return { api, project: live, asksForTokens, publicUrl, close: () => opened.disposeAsync() };
}

/**
 * Describes a project's agents for its servers (HTTP API, MCP, A2A): display names, and the arguments that each starts
 * with.
 */
export function agentsOf({ agents, prompts }: Registry): ApiAgent[] {
  return [...agents.values()].map(({ name, title = null, description = null, icon, sideA, sideB }) => ({
    name,
    title,
    description,
    icon: icon ?? null,
    arguments: argumentsOf(prompts.get(sideA.prompt)?.requiredSchema),
    sideA: toSide(sideA),
    ...(sideB && { sideB: toSide(sideB) }),
  }));
}

/** Arguments by schema, computed once because each request needs them. */
const argumentsCache = new WeakMap<AuthorSchema, AgentArguments>();

function argumentsOf(schema: AuthorSchema | undefined): AgentArguments | undefined {
  if (!schema) return undefined;
  const found: AgentArguments = argumentsCache.get(schema) ?? {
    schema: toReferringParameters(schema),
    check: (given) => checkStoredArguments(schema, given),
  };
  argumentsCache.set(schema, found);
  return found;
}

function toSide({ prompt, label }: SideDefinition) {
  return { prompt, label: label ?? null };
}
