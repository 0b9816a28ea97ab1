/** Threads: made, listed, read, ended. */
import { z } from '@hono/zod-openapi';
import { ownThreads, requireReachable, standingContext } from '../caller.ts';
import { jsonResponse } from '../problem.ts';
import { type ApiRoute, route } from '../route.ts';
import { cancelBody, limit, reasonBody, startThread, threadParams } from '../schema/given.ts';
import { executionSchema, THREAD_STATUSES, threadSchema } from '../schema/records.ts';

const tag = 'Threads';
const accepted = z.object({ threadId: z.string() });

export const threadRoutes: readonly ApiRoute[] = [
  route({
    method: 'post',
    path: '/v1/threads',
    id: 'startThread',
    scope: 'write',
    tag,
    summary: 'Start a thread',
    body: startThread,
    status: 201,
    answer: accepted,
    async handle({ body, caller, host }) {
      // A caller with a user starts threads of that user, whatever the body says.
      const userId = caller.userId ?? body.userId;
      const context = standingContext(caller, body.context);
      const started = await host.client.startThread({ ...body, userId, context });
      return jsonResponse(started, 201, { location: `/v1/threads/${started.threadId}` });
    },
  }),
  route({
    method: 'get',
    path: '/v1/threads',
    id: 'listThreads',
    scope: 'read',
    tag,
    summary: 'List threads, those that changed last first',
    query: z.object({
      status: z.enum(THREAD_STATUSES).optional(),
      agent: z.string().optional(),
      organizationId: z.string().optional(),
      limit,
    }),
    answer: z.object({ threads: z.array(threadSchema) }),
    async handle({ query, caller, host }) {
      const threads = await host.client.listThreads({ ...query, ...ownThreads(caller) });
      return jsonResponse({ threads });
    },
  }),
  route({
    method: 'get',
    path: '/v1/threads/{threadId}',
    id: 'getThread',
    scope: 'read',
    tag,
    summary: 'Read a thread',
    params: threadParams,
    answer: threadSchema,
    async handle({ params, caller, host }) {
      return jsonResponse(await requireReachable(host.client, caller, params.threadId));
    },
  }),
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/family',
    id: 'getFamily',
    scope: 'read',
    tag,
    summary: 'Read a thread with all that descend from it, each behind its parent',
    params: threadParams,
    answer: z.object({ family: z.array(z.looseObject({})) }),
    async handle({ params: { threadId }, caller, host }) {
      await requireReachable(host.client, caller, threadId);
      return jsonResponse({ family: await host.client.getFamily(threadId) });
    },
  }),
  route({
    method: 'post',
    path: '/v1/threads/{threadId}/stop',
    id: 'stopThread',
    scope: 'write',
    tag,
    summary: 'End what a thread does now; it can be sent to again',
    params: threadParams,
    body: reasonBody,
    status: 202,
    answer: accepted,
    async handle({ params: { threadId }, body, caller, host }) {
      await requireReachable(host.client, caller, threadId);
      await host.client.stop(threadId, body.reason);
      return jsonResponse({ threadId }, 202);
    },
  }),
  route({
    method: 'post',
    path: '/v1/threads/{threadId}/terminate',
    id: 'terminateThread',
    scope: 'write',
    tag,
    summary: 'End a thread for ever',
    params: threadParams,
    body: reasonBody,
    answer: accepted,
    async handle({ params: { threadId }, body, caller, host }) {
      await requireReachable(host.client, caller, threadId);
      await host.client.terminate(threadId, body.reason);
      return jsonResponse({ threadId });
    },
  }),
  route({
    method: 'post',
    path: '/v1/threads/{threadId}/cancel',
    id: 'cancelExecution',
    scope: 'write',
    tag,
    summary: 'Cancel an execution: the one that runs, or the one that is named',
    params: threadParams,
    body: cancelBody,
    status: 202,
    answer: executionSchema,
    async handle({ params: { threadId }, body, caller, host }) {
      await requireReachable(host.client, caller, threadId);
      const by = body.by ?? caller.name ?? undefined;
      return jsonResponse(await host.client.cancelExecution(threadId, { ...body, by }), 202);
    },
  }),
];
