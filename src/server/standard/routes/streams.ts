/** The HTTP part of a thread's stream for clients of Standard Agents: tickets, and requests without an upgrade. */
import { z } from '@hono/zod-openapi';
import { RuntimeError } from '../../../core/value/error.ts';
import { requireReachable } from '../../api/caller.ts';
import { jsonResponse, SAFE_HEADERS } from '../../api/problem.ts';
import { prefixOf } from '../../api/public-address.ts';
import { readBody, type StandardRoute, standardRoute } from '../standard-route.ts';
import { TICKET_SECONDS } from '../tickets.ts';

const asked = z.object({ pathname: z.string().max(1000) });

/** Returns the thread's id in the path of a stream; null for any other path. */
export function streamThread(pathname: string): string | null {
  return /^\/api\/threads\/([^/]+)\/stream$/.exec(pathname)?.[1] ?? null;
}

function withoutPrefix(pathname: string, prefix: string): string {
  return pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length) : pathname;
}

export const streamRoutes: readonly StandardRoute[] = [
  standardRoute('POST', '/api/auth/websocket-ticket', 'read', async ({ request, caller, host }) => {
    const given = await readBody(request, asked);
    // A client names the path that it sees; the proxy removes the prefix from that of the upgrade.
    const pathname = withoutPrefix(given.pathname, prefixOf(request));
    const threadId = streamThread(pathname);
    if (threadId === null)
      throw new RuntimeError(
        'InvalidRequest',
        `A ticket must be for a path like /api/threads/THREAD/stream, not ${JSON.stringify(pathname.slice(0, 200))}.`,
      );
    await requireReachable(host.client, caller, threadId);
    return jsonResponse({ ticket: host.tickets.give(caller, pathname), expires_in: TICKET_SECONDS });
  }),
  standardRoute('GET', '/api/threads/:threadId/stream', 'read', ({ thread }) =>
    Response.json(
      { error: `The stream of thread "${thread.id}" is a WebSocket: request an upgrade.` },
      { status: 426, headers: { ...SAFE_HEADERS, upgrade: 'websocket', connection: 'Upgrade' } },
    ),
  ),
];
