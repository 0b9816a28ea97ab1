/** Messages of a thread: listed, read, sent. */
import { z } from '@hono/zod-openapi';
import { RuntimeError } from '../../../core/value/error.ts';
import { requireReachable } from '../caller.ts';
import { jsonResponse, refuseRequest } from '../problem.ts';
import { type ApiRoute, route } from '../route.ts';
import { flag, limit, outgoingMessage, threadParams } from '../schema/given.ts';
import { messageSchema } from '../schema/records.ts';

const tag = 'Messages';
const count = z.coerce.number().int().min(0).optional();

export const messageRoutes: readonly ApiRoute[] = [
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/messages',
    id: 'listMessages',
    scope: 'read',
    tag,
    summary: 'List messages: the newest page, oldest first in it',
    params: threadParams,
    query: z.object({
      limit,
      offset: count,
      order: z.enum(['asc', 'desc']).optional(),
      includeSilent: flag,
      maxDepth: count,
    }),
    answer: z.object({ messages: z.array(messageSchema), total: z.int(), hasMore: z.boolean() }),
    async handle({ params: { threadId }, query, caller, host }) {
      await requireReachable(host.client, caller, threadId);
      return jsonResponse(await host.client.getMessages(threadId, query));
    },
  }),
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/messages/{messageId}',
    id: 'getMessage',
    scope: 'read',
    tag,
    summary: 'Read a message',
    params: threadParams.extend({ messageId: z.string() }),
    answer: messageSchema,
    async handle({ params: { threadId, messageId }, caller, host }) {
      await requireReachable(host.client, caller, threadId);
      const message = await host.client.getMessage(threadId, messageId);
      if (message) return jsonResponse(message);
      throw new RuntimeError(
        'MessageNotFound',
        `There is no message "${messageId}" in thread "${threadId}".`,
      );
    },
  }),
  route({
    method: 'post',
    path: '/v1/threads/{threadId}/messages',
    id: 'sendMessage',
    scope: 'write',
    tag,
    summary: 'Queue a message; the same id, or the same `Idempotency-Key`, again changes nothing',
    params: threadParams,
    query: z.object({ when: z.enum(['idle']).optional() }),
    body: outgoingMessage,
    status: 202,
    answer: z.object({ id: z.string() }),
    async handle({ params: { threadId }, query, body, request, caller, host }) {
      const { status } = await requireReachable(host.client, caller, threadId);
      const key = request.headers.get('idempotency-key') ?? undefined;
      if (key !== undefined && body.id !== undefined && key !== body.id)
        refuseRequest(
          '"id" and the header Idempotency-Key name the message twice, and differently: give one.',
        );
      if (query.when === 'idle' && (status === 'running' || status === 'waiting'))
        throw new RuntimeError(
          'ThreadBusy',
          `The thread "${threadId}" is ${status}, and the message was to be taken only at rest: nothing was queued.`,
        );
      return jsonResponse(await host.client.queueMessage(threadId, { ...body, id: body.id ?? key }), 202);
    },
  }),
];
