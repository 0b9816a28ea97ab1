/**
 * The HTTP API as a function from a Request to a Response: no socket, no Node. What every route has is here: access, size and shape of what
 * comes in, and problems for what goes wrong.
 */
import { OpenAPIHono } from '@hono/zod-openapi';
import { storeOf } from '../../client/client-store.ts';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { ThreadEndpoints } from '../endpoint.ts';
import { serveMcp } from '../mcp/mcp-door.ts';
import { createLiveStreams } from '../standard/live-streams.ts';
import { isStandardPath, serveStandard, standardError } from '../standard/standard-door.ts';
import { acceptStream, type SocketStream } from '../standard/standard-socket.ts';
import { createTickets } from '../standard/tickets.ts';
import { type Access, loopbackAccess } from './access.ts';
import { type Caller, requireReachable, requireScope } from './caller.ts';
import { completionProblem, isCompletionPath } from './completions/completion-error.ts';
import { openApiDocument } from './document.ts';
import type { ApiAgent, ApiHost } from './host.ts';
import { limitBody } from './limit-body.ts';
import { jsonResponse, problemResponse, toProblem } from './problem.ts';
import type { ApiRoute, Asked, Given } from './route.ts';
import { API_ROUTES, takesFile } from './routes.ts';
import { ADDRESSEE, isSigned } from './signed-address.ts';
import { createStreamPlace, type StreamLimits } from './stream-place.ts';

export interface ApiOptions extends StreamLimits {
  readonly client: RuntimeClient;
  /** Who may come in; requests of this machine alone unless given. `tokenAccess(…)` knows tokens; an application may bring its own. */
  readonly access?: Access;
  /** The agents of the project, as of each request. */
  readonly agents?: () => readonly ApiAgent[];
  /** Those of the project, served beside (docs/endpoints.md). */
  readonly endpoints?: Pick<ThreadEndpoints, 'handle'>;
  /** Bytes of a request's body; 16 MiB unless given. */
  readonly bodyBytes?: number;
  /** Bytes of a body that is a file, of which little is held at a time; 100 MiB, which is the most, unless given. */
  readonly fileBytes?: number;
  /** For logs: faults whose text callers are not told. */
  readonly onError?: (error: unknown, request: Request) => void;
}

export interface Api {
  /** Never rejects. */
  fetch(request: Request): Promise<Response>;
  /**
   * Answers a request to upgrade to a WebSocket: a stream to be told on the socket, or the response that refuses it. Never rejects. A host without
   * sockets leaves it out: then what asks for a stream is told 426.
   */
  connect(request: Request): Promise<Response | SocketStream>;
  /** Ends open streams, and refuses what comes. The client is not closed. */
  close(): void;
}

const CHALLENGE: Readonly<Record<string, string>> = { 'www-authenticate': 'Bearer' };
const BODY_BYTES = 16 * 1024 * 1024;

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
    access = loopbackAccess,
    agents = null,
    bodyBytes = BODY_BYTES,
    fileBytes = LIMITS.fileBytes,
    endpoints,
    onError,
  } = options;
  const streams = createStreamPlace(options);
  const host: ApiHost = { client, agents, streams };
  let closed = false;
  const app = new OpenAPIHono({
    strict: false,
    defaultHook(result) {
      if (!result.success) throw invalidRequest(result.target, result.error.issues);
    },
  });
  for (const each of API_ROUTES) addRoute(app, each, host, access);
  app.get('/openapi.json', () => jsonResponse(openApiDocument(app)));
  const live = createLiveStreams();
  const tickets = createTickets();
  const ask = (request: Request) => requireCaller(access, request);
  serveStandard(app, { client, agents, live, tickets }, ask);
  serveMcp(app, { host, requireCaller: ask, onError: (error, request) => tell(onError, error, request) });
  if (endpoints) serveEndpoints(app, endpoints, host, access);
  app.notFound(({ req }) => {
    const { pathname } = new URL(req.url);
    return isStandardPath(pathname)
      ? standardError(new RuntimeError('RouteNotFound', `There is nothing at ${req.method} ${pathname}.`))
      : toNotServed(req.method, pathname);
  });
  app.onError((error, { req }) => fail(error, req.raw));
  const fail = (error: unknown, request: Request): Response => {
    const problem = toProblem(isUnreadable(error) ? unreadable() : error);
    if (problem.status >= 500) tell(onError, error, request);
    const headers = problem.status === 401 ? CHALLENGE : {};
    const { pathname } = new URL(request.url);
    if (isStandardPath(pathname)) return standardError(error, headers);
    return isCompletionPath(pathname)
      ? completionProblem(problem, headers)
      : problemResponse(problem, headers);
  };
  return {
    async fetch(request) {
      try {
        if (closed) throw new RuntimeError('ServerClosing', 'The server is closing: try again.');
        return await app.fetch(limitBody(request, takesFile(request) ? fileBytes : bodyBytes));
      } catch (error) {
        return fail(error, request);
      }
    },
    async connect(request) {
      const cut = (error: unknown) => tell(onError, error, request);
      try {
        if (closed) throw new RuntimeError('ServerClosing', 'The server is closing: try again.');
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

function addRoute(
  app: OpenAPIHono,
  { document, scope, signable, find, handle }: ApiRoute,
  host: ApiHost,
  access: Access,
): void {
  // Before anything of the request is read: who may not ask learns nothing of what is wrong with it.
  app.use(document.getRoutingPath(), async (context, next) => {
    if (!answers(document.method, context.req.method) || scope === 'none') return next();
    const threadId = context.req.param('threadId');
    const signed =
      signable && (await isSigned(storeOf(host.client).tokens, context.req.raw.url, threadId ?? ''));
    const caller = signed ? ADDRESSEE : await requireCaller(access, context.req.raw);
    requireScope(caller, scope);
    context.set('caller' as never, caller as never);
    const thread = threadId === undefined ? undefined : await requireReachable(host.client, caller, threadId);
    context.set('thread' as never, thread as never);
    return next();
  });
  app.openapi(document, async ({ req, get }) => {
    const valid = (target: string) => (req.valid as (target: string) => unknown)(target);
    const caller: Caller | undefined = get('caller' as never);
    // Whatever way led here past the look at who asks: nothing is done for nobody.
    if (!caller && scope !== 'none') throw unauthorized();
    const asked = {
      params: document.request?.params && valid('param'),
      query: document.request?.query && valid('query'),
      host,
    } as Asked<undefined, undefined>;
    const found = await find?.(asked);
    if (found && caller) await requireReachable(host.client, caller, found.threadId);
    const body = document.request?.body && valid('json');
    const given = { ...asked, body, found, thread: get('thread' as never), request: req.raw, caller };
    return handle(given as unknown as Given<undefined, undefined, undefined>) as never;
  });
}

/** Endpoints of the project belong to threads, and are reached as these are. */
function serveEndpoints(
  app: OpenAPIHono,
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

/** Throws `Unauthorized`. */
async function requireCaller(access: Access, request: Request): Promise<Caller> {
  const caller = await access(request);
  if (caller) return caller;
  throw unauthorized();
}

function unauthorized(): RuntimeError {
  return new RuntimeError(
    'Unauthorized',
    'The request needs a token that is known: "Authorization: Bearer TOKEN".',
  );
}

/** A route of GET answers HEAD as well. */
function answers(method: string, asked: string): boolean {
  return asked === 'HEAD' ? method === 'get' : asked.toLowerCase() === method;
}

type Issues = readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];

function invalidRequest(target: string, issues: Issues): RuntimeError {
  const where = { param: 'path', query: 'query', json: 'body' }[target] ?? target;
  const told = issues
    .slice(0, 10)
    .map(({ path, message }) => `${path.map(String).join('.') || where}: ${message}`);
  return new RuntimeError('InvalidRequest', `The ${where} cannot be used: ${told.join('; ')}.`);
}

/** A body that is no JSON, as hono says it. */
function isUnreadable(error: unknown): boolean {
  return (error as { status?: unknown }).status === 400 && !(error instanceof RuntimeError);
}

function unreadable(): RuntimeError {
  return new RuntimeError('InvalidRequest', 'The body is no JSON.');
}

/** A path that is there, for another method, or none at all. */
function toNotServed(method: string, path: string): Response {
  const others = API_ROUTES.filter(({ pattern }) => pattern.test(path)).map((each) =>
    each.method.toUpperCase(),
  );
  const allow = others.toSorted().join(', ');
  const error =
    others.length > 0
      ? new RuntimeError('MethodNotAllowed', `${path} does not answer ${method}, but ${allow}.`)
      : new RuntimeError('RouteNotFound', `There is nothing at ${path}: /openapi.json lists what there is.`);
  return problemResponse(toProblem(error), others.length > 0 ? { allow } : {});
}

/** A log that fails must not change the response. */
function tell(onError: ApiOptions['onError'], error: unknown, request: Request): void {
  try {
    onError?.(error, request);
  } catch {
    // A failing log leaves nowhere to report to.
  }
}
