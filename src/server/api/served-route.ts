/**
 * Serves a route of the table: access is checked before the request is read, so an unauthorised caller sees no
 * validation errors.
 */
import { type Access, requireCaller, unauthorized } from './access.ts';
import type { ApiApp } from './app.ts';
import { requireReachable, requireScope } from './caller.ts';
import type { ApiHost } from './host.ts';
import { requireBody } from './json-body.ts';
import type { ApiRoute, LookupInput, RouteInput } from './route.ts';
import { hasValidSignature, SIGNED_URL_CALLER } from './signed-address.ts';

export function addRoute(
  app: ApiApp,
  { document, scope, signable, bytes, find, handle }: ApiRoute,
  host: ApiHost,
  access: Access,
): void {
  app.use(document.getRoutingPath(), async (context, next) => {
    if (!matchesMethod(document.method, context.req.method) || scope === 'none') return next();
    const threadId = context.req.param('threadId');
    const signed =
      signable && (await hasValidSignature(host.client.store.tokens, context.req.raw.url, threadId ?? ''));
    const caller = signed ? SIGNED_URL_CALLER : await requireCaller(access, context.req.raw);
    requireScope(caller, scope);
    if (document.request?.body && !bytes) requireBody(context.req.raw, document.request.body);
    context.set('caller', caller);
    const thread = threadId === undefined ? undefined : await requireReachable(host.client, caller, threadId);
    context.set('thread', thread);
    return next();
  });
  app.openapi(document, async ({ req, get }) => {
    const valid = (target: string) => (req.valid as (target: string) => unknown)(target);
    const caller = get('caller');
    // Defence in depth: no handler runs without a caller, however it was reached.
    if (!caller && scope !== 'none') throw unauthorized();
    const asked = {
      params: document.request?.params && valid('param'),
      query: document.request?.query && valid('query'),
      host,
    } as LookupInput<undefined, undefined>;
    const found = await find?.(asked);
    if (found && caller) await requireReachable(host.client, caller, found.threadId);
    const body = document.request?.body && valid('json');
    const given = { ...asked, body, found, thread: get('thread'), request: req.raw, caller };
    return handle(given as unknown as RouteInput<undefined, undefined, undefined>) as never;
  });
}

/** True if a route's method answers the requested one: a GET route also answers HEAD. */
function matchesMethod(method: string, asked: string): boolean {
  return asked === 'HEAD' ? method === 'get' : asked.toLowerCase() === method;
}
