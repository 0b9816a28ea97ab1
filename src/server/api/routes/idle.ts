/** Waits for a thread's rest, for clients over HTTP, which cannot read the store. */
import { z } from '@hono/zod-openapi';
import { type ApiRoute, route } from '../route.ts';
import { threadParams } from '../schema/given.ts';
import { threadSchema } from '../schema/records.ts';

/** Longest wait in milliseconds: proxies end requests that take longer. */
const MAX_WAIT_MS = 30_000;

export const idleRoutes: readonly ApiRoute[] = [
  route({
    method: 'post',
    path: '/v1/threads/{threadId}/idle',
    id: 'waitForIdle',
    scope: 'read',
    tag: 'Threads',
    summary:
      'Wait until a thread is at rest and has taken what was sent, or waits for people; otherwise `Timeout`',
    params: threadParams,
    body: z.strictObject({
      timeoutMs: z.int().min(0).max(MAX_WAIT_MS).optional().meta({ description: 'Default: 20,000' }),
      sent: z
        .strictObject({
          ids: z
            .array(z.string())
            .max(10_000)
            .meta({ description: 'Ids of messages and tool calls that were sent' }),
          words: z.array(z.string()).max(10_000).optional().meta({
            description:
              'Ids of the user messages among these: a paused thread counts as at rest only after it has taken them',
          }),
          signalled: z
            .boolean()
            .optional()
            .meta({ description: 'True if something was stopped or cancelled' }),
        })
        .optional(),
    }),
    answer: threadSchema,
    async handle({ params: { threadId }, body, request, host }) {
      const { timeoutMs = 20_000, sent = { ids: [] } } = body;
      const { signal } = request;
      return host.client.waitForIdle(threadId, { timeoutMs, sent, signal });
    },
  }),
];
