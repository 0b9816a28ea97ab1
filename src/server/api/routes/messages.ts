/** Messages of a thread: listed, read, sent. */
import { z } from '@hono/zod-openapi';
import { RuntimeError } from '../../../core/value/error.ts';
import { withTracedContext } from '../caller.ts';
import { readIdempotencyKey } from '../idempotency-key.ts';
import { refuseRequest } from '../problem.ts';
import { type ApiRoute, route } from '../route.ts';
import {
  flag,
  limit,
  messageUpdates,
  order,
  outgoingMessage,
  supersede,
  threadParams,
} from '../schema/given.ts';
import { messageSchema } from '../schema/records.ts';

const tag = 'Messages';
const messageParams = threadParams.extend({ messageId: z.string() });
const count = z.coerce.number().int().min(0).optional();

export const messageRoutes: readonly ApiRoute[] = [
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/messages',
    id: 'listMessages',
    scope: 'read',
    tag,
    summary: 'List messages: the newest page, oldest first within the page',
    params: threadParams,
    query: z.object({
      limit,
      offset: count,
      order,
      includeSilent: flag,
      maxDepth: count,
      superseded: flag,
    }),
    answer: z.object({ messages: z.array(messageSchema), total: z.int(), hasMore: z.boolean() }),
    async handle({ params: { threadId }, query, host }) {
      return host.client.getMessages(threadId, query);
    },
  }),
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/messages/{messageId}',
    id: 'getMessage',
    scope: 'read',
    tag,
    summary: 'Read a message',
    params: messageParams,
    answer: messageSchema,
    async handle({ params: { threadId, messageId }, host }) {
      const message = await host.client.getMessage(threadId, messageId);
      if (message) return message;
      throw messageNotFound(threadId, messageId);
    },
  }),
  route({
    method: 'patch',
    path: '/v1/threads/{threadId}/messages/{messageId}',
    id: 'updateMessage',
    scope: 'write',
    tag,
    summary: 'Change a stored message; the next request to a model contains the change',
    params: messageParams,
    body: messageUpdates,
    answer: messageSchema,
    async handle({ params: { threadId, messageId }, body, host }) {
      if (Object.keys(body).length === 0)
        refuseRequest('There is nothing to change: give "content", "silent" or "metadata".');
      return host.client.updateMessage(threadId, messageId, body);
    },
  }),
  route({
    method: 'delete',
    path: '/v1/threads/{threadId}/messages/{messageId}',
    id: 'deleteMessage',
    scope: 'write',
    tag,
    summary: 'Delete a message with what depends on it; a queued message is then never taken',
    params: messageParams,
    answer: z.object({ id: z.string() }),
    async handle({ params: { threadId, messageId }, host }) {
      if (await host.client.deleteMessage(threadId, messageId)) return { id: messageId };
      throw messageNotFound(threadId, messageId);
    },
  }),
  route({
    method: 'post',
    path: '/v1/threads/{threadId}/messages',
    id: 'sendMessage',
    scope: 'write',
    tag,
    summary: 'Queue a message; repeating it with the same id or `Idempotency-Key` changes nothing',
    params: threadParams,
    query: z.object({ when: z.enum(['idle']).optional() }),
    body: outgoingMessage,
    status: 202,
    answer: z.object({ id: z.string() }),
    async handle({ params: { threadId }, query, body, request, thread: { status }, caller, host }) {
      const key = readIdempotencyKey(request.headers);
      if (key && body.id !== undefined && key.given !== body.id)
        refuseRequest('"id" and the header Idempotency-Key give the message different ids: give only one.');
      if (query.when === 'idle' && (status === 'running' || status === 'waiting'))
        throw new RuntimeError(
          'ThreadBusy',
          `The thread "${threadId}" is ${status}, but the message may only be sent to a thread at rest: nothing was queued.`,
        );
      return host.client.queueMessage(threadId, {
        ...withTracedContext(caller, body),
        id: body.id ?? key?.id,
      });
    },
  }),
  route({
    method: 'post',
    path: '/v1/threads/{threadId}/supersede',
    id: 'supersede',
    scope: 'write',
    tag,
    summary:
      'Answer a message of the user again, as it was or edited: what follows it leaves the history. Repeating it with the same `Idempotency-Key` changes nothing',
    params: threadParams,
    body: supersede,
    status: 202,
    answer: z.object({
      messageId: z.string().meta({ description: 'The message that is answered again' }),
      seq: z.int().meta({ description: 'Number of the event; the new answer begins behind it' }),
      messages: z.int().meta({ description: 'Number of superseded messages' }),
      ended: z.array(z.string()).meta({ description: 'Ids of subagents that were terminated' }),
    }),
    handle: ({ params: { threadId }, body, request, host }) =>
      host.client.supersede(threadId, { ...body, requestId: readIdempotencyKey(request.headers)?.id }),
  }),
];

function messageNotFound(threadId: string, messageId: string): RuntimeError {
  return new RuntimeError('MessageNotFound', `There is no message "${messageId}" in thread "${threadId}".`);
}
