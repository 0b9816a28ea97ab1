/**
 * The door of Standard Agents beside `/v1`: the same threads and the same access, with the paths, the shapes and the errors that its clients
 * expect.
 * D1. Of a path both have, the standard's route answers, and not an endpoint of the project: its clients rely on it.
 * D2. Whoever may not ask learns nothing of what is wrong with the request: access comes before everything that is read of it.
 */
import type { OpenAPIHono } from '@hono/zod-openapi';
import { ERRORS, isRuntimeError } from '../../core/value/error.ts';
import type { Caller } from '../api/caller.ts';
import { requireReachable, requireScope } from '../api/caller.ts';
import { SAFE_HEADERS } from '../api/problem.ts';
import type { StandardGiven, StandardHost, StandardRoute } from './standard-route.ts';
import { STANDARD_ROUTES } from './standard-routes.ts';

/** Throws `Unauthorized`. */
type RequireCaller = (request: Request) => Promise<Caller>;

/** Paths that are answered in the standard's shapes, also where nothing is served. */
export function isStandardPath(pathname: string): boolean {
  return pathname.startsWith('/api/') || pathname.startsWith('/threads/');
}

export function serveStandard(app: OpenAPIHono, host: StandardHost, requireCaller: RequireCaller): void {
  for (const route of STANDARD_ROUTES)
    app.on(route.method, [route.path], async ({ req }) => {
      // D2: before anything of it is read.
      const caller = await requireCaller(req.raw);
      requireScope(caller, route.scope);
      return answer(route, { params: req.param(), request: req.raw, caller, host });
    });
}

async function answer(
  { handle }: StandardRoute,
  asked: Omit<StandardGiven<string>, 'query' | 'thread'>,
): Promise<Response> {
  const { params, request, caller, host } = asked;
  const { threadId } = params;
  const thread = threadId === undefined ? undefined : await requireReachable(host.client, caller, threadId);
  const query = new URL(request.url).searchParams;
  return handle({ ...asked, query, thread } as StandardGiven<string>);
}

/** `{ error, code? }`: the standard's clients read the status alone, people the rest. */
export function standardError(error: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  const told = isRuntimeError(error)
    ? { error: error.message, code: error.code, status: statusOf(error.code) }
    : { error: 'The request could not be served. The log of the server says why.', status: 500 };
  const { status, ...body } = told;
  return Response.json(body, { status, headers: { ...SAFE_HEADERS, ...headers } });
}

/** The standard says 400 where variables still lack. */
function statusOf(code: keyof typeof ERRORS): number {
  return code === 'MissingVariable' ? 400 : ERRORS[code].status;
}
