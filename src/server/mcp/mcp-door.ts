/**
 * Serves agents as tools at `/mcp`, over streamable HTTP (docs/mcp-server.md). Access, size limits and stream limits
 * are those of the API. No session state is kept between requests, so any process can answer any of them.
 */
import type { ApiApp } from '../api/app.ts';
import { type Caller, requireScope } from '../api/caller.ts';
import type { ApiHost } from '../api/host.ts';
import { KEEP_ALIVE_MS, openStream } from '../api/stream.ts';
import type { AgentServer } from './agent-server.ts';
import { OpenForms } from './asked-forms.ts';
import { isFormSession, sessionOf } from './session-id.ts';

export interface McpOptions {
  readonly host: ApiHost;
  /** Throws `Unauthorized`. */
  readonly requireCaller: (request: Request) => Promise<Caller>;
  readonly onError: (error: unknown, request: Request) => void;
}

export function serveMcp(app: ApiApp, { host, requireCaller, onError }: McpOptions): void {
  const forms = new OpenForms();
  app.all('/mcp', async ({ req: { raw: request } }) => {
    // Access is checked before the request is read.
    const caller = await requireCaller(request);
    requireScope(caller, 'read');
    const report = (error: unknown) => onError(error, request);
    // Loaded on the first request: a server without MCP clients never loads it.
    const [{ createMcpHandler }, { createAgentServer }] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('./agent-server.ts'),
    ]);
    const servers: AgentServer[] = [];
    const handler = createMcpHandler(
      () => {
        const server = createAgentServer({
          client: host.client,
          agents: () => host.agents?.() ?? [],
          caller,
          hearsCancel: false,
          enter: (threadId) => openStream(host, threadId),
          forms,
          showsForms: isFormSession(request),
          onError: report,
        });
        servers.push(server);
        return server;
      },
      // The headers are sent at once: clients give up if none arrive.
      { keepAliveMs: KEEP_ALIVE_MS, responseMode: 'sse' },
    );
    const session = await sessionOf(request);
    const response = await handler.fetch(request);
    // A person's answer is stored before it is acknowledged.
    await Promise.all(servers.flatMap(({ answers }) => answers));
    if (session !== undefined && response.ok) response.headers.set('mcp-session-id', session);
    return response;
  });
}
