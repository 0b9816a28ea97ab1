/** A thread's rest, waited for by whoever cannot see it in the store: a client over HTTP. */
import { z } from '@hono/zod-openapi';
import { requireReachable } from '../caller.ts';
import { jsonResponse } from '../problem.ts';
import { type ApiRoute, route } from '../route.ts';
import { threadParams } from '../schema/given.ts';
import { threadSchema } from '../schema/records.ts';

/** What lies between ends requests that take longer. */
const LONGEST_MS = 30_000;

export const idleRoutes: readonly ApiRoute[] = [
  route({
    method: 'post',
    path: '/v1/threads/{threadId}/idle',
    id: 'waitForIdle',
    scope: 'read',
    tag: 'Threads',
    summary:
      'Wait until a thread is at rest and has taken what was sent, or waits for people; `Timeout` where it is not',
    params: threadParams,
    body: z.strictObject({
      timeoutMs: z.int().min(0).max(LONGEST_MS).optional().meta({ description: '20,000 unless given' }),
      sent: z
        .strictObject({
          ids: z.array(z.string()).max(10_000).meta({ description: 'Of messages and tools' }),
          signalled: z.boolean().optional().meta({ description: 'Something was stopped or cancelled' }),
        })
        .optional(),
    }),
    answer: threadSchema,
    async handle({ params: { threadId }, body, request, caller, host }) {
      await requireReachable(host.client, caller, threadId);
      const { timeoutMs = 20_000, sent = { ids: [] } } = body;
      const { signal } = request;
      return jsonResponse(await host.client.waitForIdle(threadId, { timeoutMs, sent, signal }));
    },
  }),
];
