/**
 * Pages of other origins: which of them a browser lets call the API (CORS).
 * - A browser asks for permission without a token. So it is answered before access is checked, and grants no access.
 * - Cookies are neither read nor allowed: a page has the access of the token that it sends.
 */
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { RuntimeError } from '../../core/value/error.ts';
import { originRemedy } from './access.ts';
import { problemResponse, toProblem } from './problem.ts';
import type { RequestSource } from './public-address.ts';

type Answer = (request: Request, source?: RequestSource) => Promise<Response>;

/** `SCHEME://HOST[:PORT]`; the port `*` stands for any port, and for none. */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^\s/@*?#]+?(:\*)?$/;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Seconds for which a browser remembers a permission. */
const REMEMBERED = 600;

/** Pages of this machine. */
export const DEV_ORIGINS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'].flatMap((host) => [
  `http://${host}:*`,
  `https://${host}:*`,
]);

/** Permits pages of these origins to call `answer`, and to read all of its answers. Throws `InvalidConfiguration`. */
export function permitOrigins(origins: readonly string[], answer: Answer): Answer {
  for (const origin of origins) requireOrigin(origin);
  const isPermitted = (origin: string) => origins.some((each) => matches(each, origin));
  // The headers that a browser asks for are allowed as they are: the API ignores those that it does not know.
  const permit = cors({
    origin: (origin) => (isPermitted(origin) ? origin : null),
    allowMethods: METHODS,
    exposeHeaders: ['*'],
    maxAge: REMEMBERED,
  });
  const app = new Hono<{ Bindings: RequestSource }>();
  app.use((context, next) => {
    const asked = preflightOrigin(context.req.raw);
    if (asked !== null && !isPermitted(asked)) return Promise.resolve(refusal(asked));
    const isOther = asked === null && context.req.method === 'OPTIONS';
    return isOther || origins.length === 0 ? next() : permit(context, next);
  });
  app.all('*', ({ req, env }) => answer(req.raw, env));
  return async (request, source) => app.fetch(request, source);
}

/** Returns the origin for which a browser asks for permission; null if the request is another one. */
function preflightOrigin({ method, headers }: Request): string | null {
  return method === 'OPTIONS' && headers.has('access-control-request-method') ? headers.get('origin') : null;
}

function matches(permitted: string, origin: string): boolean {
  if (!permitted.endsWith(':*')) return permitted === origin;
  const host = permitted.slice(0, -2);
  return origin.startsWith(host) && /^(:\d+)?$/.test(origin.slice(host.length));
}

function refusal(origin: string): Response {
  return problemResponse(toProblem(new RuntimeError('Forbidden', originRemedy(origin))));
}

function requireOrigin(text: string): void {
  if (ORIGIN.test(text)) return;
  throw new RuntimeError(
    'InvalidConfiguration',
    `EVERTHREAD_API_ORIGINS: "${text}" is not an origin: write SCHEME://HOST[:PORT], such as https://app.example, or http://localhost:* for every port.`,
  );
}
