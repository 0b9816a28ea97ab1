/**
 * The HTTP API as a function from a Request to a Response: no socket, no Node. Handles what all routes share: limits
 * of bodies, the headers of other origins, and error responses; `served-route.ts` checks access and input.
 */
import { OpenAPIHono } from '@hono/zod-openapi';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { discardBody } from '../answer.ts';
import type { ThreadEndpoints } from '../endpoint.ts';
import { serveMcp } from '../mcp/mcp-door.ts';
import { createLiveStreams } from '../standard/live-streams.ts';
import { isStandardPath, serveStandard, standardError } from '../standard/standard-door.ts';
import { acceptStream, type SocketStream } from '../standard/standard-socket.ts';
import { createTickets } from '../standard/tickets.ts';
import { type Access, loopbackAccess, requireCaller, withTrace } from './access.ts';
import type { ApiApp, ApiEnv } from './app.ts';
import { requireReachable, requireScope } from './caller.ts';
import { adviceFor, completionProblem, isCompletionPath } from './completions/completion-error.ts';
import { permitOrigins } from './cross-origin.ts';
import type { ApiAgent, ApiHost } from './host.ts';
import { toOwnError } from './json-body.ts';
import { limitBody, limitConversation } from './limit-body.ts';
import { pageResponse } from './page.ts';
import { describeIssues, type Issue, jsonResponse, problemResponse, toProblem } from './problem.ts';
import {
  addressOf,
  givePublicAddress,
  type PublicAddressOptions,
  type RequestSource,
} from './public-address.ts';
import { rememberCounts } from './recent-counts.ts';
import { API_ROUTES, hasConversation, hasFileBody } from './routes.ts';
import { addRoute } from './served-route.ts';
import { createStreamPlace, type StreamLimits } from './stream-place.ts';

export interface ApiOptions extends StreamLimits, PublicAddressOptions {
  readonly client: RuntimeClient;
  /** Authorises requests, for example `tokenAccess(…)`; unless given, only requests of this machine are accepted. */
  readonly access?: Access;
  /** If true, the `traceparent` of callers without a token is joined, too; else it becomes a link. */
  readonly joinsTraces?: boolean;
  /** Returns the agents of the project; called for each request. */
  readonly agents?: () => readonly ApiAgent[];
  /** The project's endpoints, served beside the API (docs/endpoints.md). */
  readonly endpoints?: Pick<ThreadEndpoints, 'handle'>;
  /** Address of Temporal's Web UI, for pages that link to it. */
  readonly uiUrl?: string | undefined;
  /** Origins whose pages may call the API: `https://app.example`, `http://localhost:*`; none unless given. */
  readonly origins?: readonly string[];
  /** Maximum bytes of a request's body; 16 MiB unless given. Of a conversation, four times as many are read. */
  readonly bodyBytes?: number;
  /** Maximum bytes of a body that is a file, which is streamed; at most 100 MiB, which is the default. */
  readonly fileBytes?: number;
  /** For logs: receives faults whose details callers do not see. */
  readonly onError?: (error: unknown, request: Request) => void;
}

export interface Api {
  /** Never rejects. `source` is given by a host that trusts proxies (`trustedProxies`). */
  fetch(request: Request, source?: RequestSource): Promise<Response>;
  /**
   * Answers a request to upgrade to a WebSocket: with a stream to run on the socket, or with the response that refuses
   * it. Never rejects. A host without sockets does not call it: through `fetch`, requests for a stream are answered
   * with 426.
   */
  connect(request: Request): Promise<Response | SocketStream>;
  /** Ends open streams, and refuses further requests. Does not close the client. */
  close(): void;
}

const CHALLENGE: Readonly<Record<string, string>> = { 'www-authenticate': 'Bearer' };
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/**
 * Serves `/v1`, and `/api` for clients of Standard Agents (docs/http.md).
 * @example
 * ```ts
 * const api = createApi({ client: await RuntimeClient.connect() });
 * const response = await api.fetch(new Request('http://localhost/v1/threads'));
 * ```
 */
export function createApi(options: ApiOptions): Api {
  const {
    client,
    agents = null,
    bodyBytes = MAX_BODY_BYTES,
    fileBytes = LIMITS.fileBytes,
    endpoints,
    origins = [],
    uiUrl = null,
    onError,
  } = options;
  const access = withTrace(options.access ?? loopbackAccess, options.joinsTraces ?? false);
  const streams = createStreamPlace(options);
  const toPublic = givePublicAddress(options);
  const host: ApiHost = { client, agents, uiUrl, countOnce: rememberCounts(), streams };
  let closed = false;
  const app = new OpenAPIHono<ApiEnv>({
    strict: false,
    defaultHook(result) {
      if (!result.success) throw invalidRequest(result.target, result.error.issues);
    },
  });
  for (const each of API_ROUTES) addRoute(app, each, host, access);
  app.get('/ui', ({ req }) => pageResponse(req.raw));
  app.get('/openapi.json', ({ req }) => jsonResponse(openApiDocument(app, addressOf(req.raw))));
  const live = createLiveStreams();
  const tickets = createTickets();
  const ask = (request: Request) => requireCaller(access, request);
  serveStandard(app, { client, agents, live, tickets }, ask);
  serveMcp(app, { host, requireCaller: ask, onError: (error, request) => logError(onError, error, request) });
  if (endpoints) serveEndpoints(app, endpoints, host, access);
  app.notFound(({ req }) => {
    const { pathname } = new URL(req.url);
    return isStandardPath(pathname)
      ? standardError(new RuntimeError('RouteNotFound', `There is no route for ${req.method} ${pathname}.`))
      : notServedResponse(req.method, pathname);
  });
  app.onError((error, { req }) => fail(error, req.raw));
  const fail = (error: unknown, request: Request): Response => {
    const problem = toProblem(toOwnError(error));
    if (problem.status >= 500) logError(onError, error, request);
    const headers = problem.status === 401 ? CHALLENGE : {};
    const { pathname } = new URL(request.url);
    if (isStandardPath(pathname)) return standardError(error, headers);
    return isCompletionPath(pathname)
      ? completionProblem(problem, headers)
      : problemResponse(problem, headers);
  };
  const requireOpen = () => {
    if (closed) throw new RuntimeError('ServerClosing', 'The server is closing: try again.');
  };
  return {
    fetch: permitOrigins(origins, async (request, source) => {
      try {
        requireOpen();
        const given = toPublic(request, source);
        const limited = hasConversation(given)
          ? limitConversation(given, bodyBytes)
          : limitBody(given, hasFileBody(given) ? fileBytes : bodyBytes);
        const response = await app.fetch(limited.request);
        const refusal = limited.refusal();
        if (refusal === null) return response;
        discardBody(response);
        return fail(refusal, request);
      } catch (error) {
        return fail(error, request);
      }
    }),
    async connect(request) {
      const cut = (error: unknown) => logError(onError, error, request);
      try {
        requireOpen();
        return await acceptStream(
          { client, streams, live, tickets, requireCaller: ask, onError: cut },
          request,
        );
      } catch (error) {
        return fail(error, request);
      }
    },
    close() {
      closed = true;
      streams.close();
    },
  };
}

/** Serves the project's endpoints. Each belongs to a thread: only callers that may reach the thread may call it. */
function serveEndpoints(
  app: ApiApp,
  endpoints: Pick<ThreadEndpoints, 'handle'>,
  { client }: ApiHost,
  access: Access,
): void {
  app.all('/api/threads/:threadId/*', async ({ req }) => {
    const caller = await requireCaller(access, req.raw);
    requireScope(caller, req.method === 'GET' || req.method === 'HEAD' ? 'read' : 'write');
    await requireReachable(client, caller, req.param('threadId'));
    return endpoints.handle(req.raw);
  });
}

function invalidRequest(target: string, issues: readonly Issue[]): RuntimeError {
  const where = { param: 'path', query: 'query', json: 'body' }[target] ?? target;
  return new RuntimeError('InvalidRequest', `The ${where} is invalid: ${describeIssues(issues, where)}.`);
}

/** Answers `MethodNotAllowed` if the path has routes for other methods, else `RouteNotFound`. */
function notServedResponse(method: string, path: string): Response {
  const others = API_ROUTES.filter(({ pattern }) => pattern.test(path)).map((each) =>
    each.method.toUpperCase(),
  );
  const allow = others.toSorted().join(', ');
  const advice = adviceFor(path);
  if (advice !== undefined) return completionProblem(toProblem(new RuntimeError('RouteNotFound', advice)));
  const error =
    others.length > 0
      ? new RuntimeError('MethodNotAllowed', `${path} does not support ${method}, only ${allow}.`)
      : new RuntimeError('RouteNotFound', `There is no route for ${path}: /openapi.json lists the routes.`);
  return problemResponse(toProblem(error), others.length > 0 ? { allow } : {});
}

/** A log that fails must not change the response. */
function logError(onError: ApiOptions['onError'], error: unknown, request: Request): void {
  try {
    onError?.(error, request);
  } catch {
    // A failing log leaves nowhere to report to.
  }
}

/** The OpenAPI 3.1 document of the API. `address`: that of the server, without a slash at its end. */
function openApiDocument(app: ApiApp, address: string): Readonly<Record<string, unknown>> {
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Everthread',
      version: '1',
      description: 'Durable agent threads. Errors are problem documents (RFC 9457) with a code.',
    },
    servers: [{ url: address }],
  });
  const bearer = {
    type: 'http',
    scheme: 'bearer',
    description: 'A token; not needed if the server has no tokens.',
  };
  return {
    ...document,
    info: { ...document.info, license: { name: 'MIT', identifier: 'MIT' } },
    components: { ...document.components, securitySchemes: { bearer } },
  } as unknown as Readonly<Record<string, unknown>>;
}
