/**
 * The feed of changes of threads: as a page of JSON, which may wait for a change, or live as server-sent events.
 * - In a stream each event is one thread. Only the last one of a page has the cursor behind it: a reader that loses the
 *   connection within a page gets the page again.
 */
import { z } from '@hono/zod-openapi';
import { MAX_CHANGES_WAIT_MS } from '../../../client/follow-changes.ts';
import type { ThreadChanges } from '../../../store/thread/thread-record.ts';
import { ownThreadFilters } from '../caller.ts';
import { type Frame, formatOf, logResponse, resumeCursor } from '../log-stream.ts';
import { type ApiRoute, route } from '../route.ts';
import { limit } from '../schema/given.ts';
import { threadSchema } from '../schema/records.ts';

export const changeRoutes: readonly ApiRoute[] = [
  route({
    method: 'get',
    path: '/v1/threads/changes',
    id: 'listChanges',
    scope: 'read',
    tag: 'Threads',
    summary:
      'Read which threads have changed since a cursor, each as it is now: a page of JSON, or live as `text/event-stream` or `application/x-ndjson`',
    query: z.object({
      cursor: z
        .string()
        .optional()
        .meta({ description: 'A cursor that came with changes; without it, from now on' }),
      userId: z.string().optional(),
      organizationId: z.string().optional(),
      limit,
      wait: z.coerce
        .number()
        .min(0)
        .max(MAX_CHANGES_WAIT_MS / 1000)
        .optional()
        .meta({ description: 'Seconds to wait for a change, if there is none; 0 unless given' }),
    }),
    answer: z.object({
      threads: z.array(z.union([z.object({ id: z.string(), deleted: z.literal(true) }), threadSchema])),
      cursor: z.string(),
    }),
    async handle({ query: { cursor: asked, wait = 0, ...query }, caller, request, host }) {
      const format = formatOf(request);
      const cursor = resumeCursor(request, asked);
      const { signal } = request;
      const options = { ...query, ...ownThreadFilters(caller) };
      const { client } = host;
      if (format === 'json') return client.listChanges({ ...options, cursor, waitMs: wait * 1000, signal });
      // Checked before the response begins: a stream that has begun cannot report an error.
      const first = await client.listChanges({ ...options, cursor, limit: 1 });
      const start = cursor ?? first.cursor;
      return logResponse(host, {
        request,
        // Counted by caller, since no thread is read.
        threadId: `changes of ${caller.name ?? 'anyone'}`,
        format,
        start,
        follow: true,
        isComplete: false,
        pages: (how) => toFrames(start, client.changes({ ...options, cursor: start, signal: how.signal })),
      });
    },
  }),
];

async function* toFrames(
  start: string,
  pages: AsyncIterable<ThreadChanges>,
): AsyncGenerator<readonly Frame[]> {
  let before = start;
  for await (const { threads, cursor } of pages) {
    const from = before;
    yield threads.map((data, index) => ({ cursor: index === threads.length - 1 ? cursor : from, data }));
    if (threads.length > 0) before = cursor;
  }
}
