/**
 * Serves the HTTP API of Standard Agents beside `/v1`: the same threads and the same access, with the paths, shapes and
 * errors that its clients expect.
 * - At a path that both have, the standard's route answers, not an endpoint of the project. Its clients rely on it.
 * - Access is checked before the request is read. So an unauthorised caller sees no validation errors.
 */

import { ERRORS, isRuntimeError } from '../../core/value/error.ts';
import type { ApiApp } from '../api/app.ts';
import { type Caller, requireReachable, requireScope } from '../api/caller.ts';
import { SAFE_HEADERS } from '../api/problem.ts';
import { fileRoutes } from './routes/files.ts';
import { messageRoutes } from './routes/messages.ts';
import { streamRoutes } from './routes/streams.ts';
import { threadRoutes } from './routes/threads.ts';
import type { StandardHost, StandardInput, StandardRoute } from './standard-route.ts';

/** Throws `Unauthorized`. */
type RequireCaller = (request: Request) => Promise<Caller>;

/** True for paths that are answered in the standard's shapes, also if no route serves them. */
export function isStandardPath(pathname: string): boolean {
  return pathname.startsWith('/api/') || pathname.startsWith('/threads/');
}

export function serveStandard(app: ApiApp, host: StandardHost, requireCaller: RequireCaller): void {
  for (const route of STANDARD_ROUTES)
    app.on(route.method, [route.path], async ({ req }) => {
      // Before the request is read.
      const caller = await requireCaller(req.raw);
      requireScope(caller, route.scope);
      return answer(route, { params: req.param(), request: req.raw, caller, host });
    });
}

async function answer(
  { handle }: StandardRoute,
  asked: Omit<StandardInput<string>, 'query' | 'thread'>,
): Promise<Response> {
  const { params, request, caller, host } = asked;
  const { threadId } = params;
  const thread = threadId === undefined ? undefined : await requireReachable(host.client, caller, threadId);
  const query = new URL(request.url).searchParams;
  return handle({ ...asked, query, thread } as StandardInput<string>);
}

/** Answers `{ error, code? }`: the standard's clients read only the status, the body is for people. */
export function standardError(error: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  const errorBody = isRuntimeError(error)
    ? { error: error.message, code: error.code, status: statusOf(error.code) }
    : { error: 'The request could not be served. The log of the server has the reason.', status: 500 };
  const { status, ...body } = errorBody;
  return Response.json(body, { status, headers: { ...SAFE_HEADERS, ...headers } });
}

/** The standard requires 400 if variables are missing. */
function statusOf(code: keyof typeof ERRORS): number {
  return code === 'MissingVariable' ? 400 : ERRORS[code].status;
}

/** The table of all routes of Standard Agents that are served: what its client library calls. */
export const STANDARD_ROUTES: readonly StandardRoute[] = [
  ...threadRoutes,
  ...messageRoutes,
  ...fileRoutes,
  ...streamRoutes,
];
