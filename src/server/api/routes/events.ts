/** The log of a thread: as a page of JSON, as server-sent events, or as lines of JSON. */
import { z } from '@hono/zod-openapi';
import { LOG_FORMS } from '../../../projections/log-form.ts';
import { eventPages, eventStart } from '../event-pages.ts';
import { formatOf, logResponse, resumeCursor } from '../log-stream.ts';
import { type ApiRoute, route } from '../route.ts';
import { flag, limit, threadParams } from '../schema/given.ts';
import { eventSchema } from '../schema/records.ts';

export const eventRoutes: readonly ApiRoute[] = [
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/events',
    id: 'readEvents',
    scope: 'read',
    tag: 'Events',
    summary: 'Read the log: a page of JSON, or live as `text/event-stream` or `application/x-ndjson`',
    params: threadParams,
    query: z.object({
      as: z.enum(['plain', ...LOG_FORMS]).optional(),
      after: z
        .string()
        .optional()
        .meta({ description: 'A cursor; `0`: from the beginning; `now`: only new events' }),
      run: z
        .string()
        .optional()
        .meta({ description: 'Only the events of this execution; not with `as=plain`' }),
      types: z
        .string()
        .optional()
        .meta({ description: 'Only these kinds of events, separated by commas; with `as=plain`' }),
      follow: flag.meta({ description: '`false`: a stream ends at the current end of the log' }),
      limit,
    }),
    answer: z.object({ events: z.array(eventSchema), cursor: z.string(), more: z.boolean() }),
    async handle({ params: { threadId }, query, request, thread, host }) {
      const format = formatOf(request);
      const after = resumeCursor(request, query.after);
      // Checked before the response begins: a stream that has begun cannot report an error.
      const run = query.run === undefined ? undefined : await host.client.runs.get(query.run, threadId);
      const start = eventStart(query.as, after, thread);
      const { follow = true, ...asked } = query;
      const reading = { ...asked, threadId, start, subagent: thread.parentId !== null };
      if (format === 'json') return await onePage(host.client, reading, query.limit);
      return logResponse(host, {
        request,
        threadId,
        format,
        start,
        follow,
        isComplete: thread.terminatedAt !== null || (run !== undefined && run.endedAt !== null),
        pages: (how) => eventPages(host.client, { ...reading, ...how }),
      });
    },
  }),
];

const PAGE_SIZE = 100;

async function onePage(
  client: Parameters<typeof eventPages>[0],
  reading: Omit<Parameters<typeof eventPages>[1], 'signal'>,
  most = PAGE_SIZE,
) {
  const events: unknown[] = [];
  let cursor = reading.start;
  for await (const page of eventPages(client, { ...reading, follow: false })) {
    for (const frame of page) {
      if (events.length === most) return { events, cursor, more: true };
      events.push(frame.data);
      cursor = frame.cursor;
    }
  }
  return { events, cursor, more: false };
}
