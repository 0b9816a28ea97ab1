/** Threads: created, listed, read, ended. */
import { z } from '@hono/zod-openapi';
import { readCursor, toCursor } from '../../../client/thread-cursor.ts';
import { COUNTED_BY } from '../../../core/author/read-options.ts';
import { callerContext, ownThreadFilters } from '../caller.ts';
import { requireAgent } from '../known-agent.ts';
import { jsonResponse, refuseRequest } from '../problem.ts';
import { type ApiRoute, route } from '../route.ts';
import {
  cancelBody,
  forkThread,
  limit,
  reasonBody,
  startThread,
  threadFilters,
  threadParams,
  threadSort,
  threadUpdates,
} from '../schema/given.ts';
import {
  executionSchema,
  forkedThread,
  memberSchema,
  THREAD_STATUSES,
  threadSchema,
} from '../schema/records.ts';
import { readVariables } from '../thread-variables.ts';

const tag = 'Threads';
/** Default page size of a list. */
const DEFAULT_PAGE_SIZE = 50;
const accepted = z.object({ threadId: z.string() });
const counts = z.record(z.string(), z.int());

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
      // The caller's user, if there is one, overrides that of the body.
      const userId = caller.userId ?? body.userId;
      const context = callerContext(caller, body.context);
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
    summary: 'List threads, last changed first unless `sort` says otherwise; `cursor` continues after a page',
    query: threadFilters.extend({
      sort: threadSort,
      limit,
      cursor: z
        .string()
        .optional()
        .meta({ description: 'Cursor from the previous page; use the same filters' }),
    }),
    answer: z.object({
      threads: z.array(threadSchema),
      cursor: z.string().nullable().meta({ description: 'Null if there are no more threads' }),
    }),
    async handle({ query: { cursor, limit: most = DEFAULT_PAGE_SIZE, ...filters }, caller, host }) {
      const before = cursor === undefined ? undefined : readCursor(cursor);
      // One more than the page, to know whether another page follows.
      const found = await host.client.listThreads({
        ...filters,
        ...ownThreadFilters(caller),
        before,
        limit: most + 1,
      });
      const threads = found.slice(0, most);
      const last = threads.at(-1);
      return { threads, cursor: last && found.length > most ? toCursor(last) : null };
    },
  }),
  route({
    method: 'get',
    path: '/v1/threads/counts',
    id: 'countThreads',
    scope: 'read',
    tag,
    summary: 'Count the threads that match, by status, agent, user, organisation and tag',
    query: threadFilters.extend({
      by: z
        .string()
        .transform((text) => text.split(','))
        .pipe(z.array(z.enum(COUNTED_BY)))
        .optional()
        .meta({
          description: `Only by these, separated by commas: ${COUNTED_BY.join(', ')}; unless given, by all, and with filters by all but tags`,
        }),
    }),
    answer: z.object({
      total: z.int(),
      status: z.partialRecord(z.enum(THREAD_STATUSES), z.int()),
      agent: counts,
      userId: counts.meta({ description: 'The 100 users with the most threads' }),
      organizationId: counts.meta({ description: 'The 100 organisations with the most threads' }),
      tag: counts.meta({ description: 'The 100 tags with the most threads' }),
    }),
    handle({ query, caller, host: { client, countOnce } }) {
      const asked = { ...query, ...ownThreadFilters(caller) };
      return countOnce(asked, () => client.countThreads(asked));
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
    handle: ({ thread, host }) => host.client.threads.conceal(thread),
  }),
  route({
    method: 'patch',
    path: '/v1/threads/{threadId}',
    id: 'updateThread',
    scope: 'write',
    tag,
    summary: 'Set tags and variables of a thread',
    params: threadParams,
    body: threadUpdates,
    answer: threadSchema,
    async handle({ params: { threadId }, body: { tags, env = {} }, host: { client } }) {
      if (tags === undefined && Object.keys(env).length === 0)
        refuseRequest('There is nothing to change: give "tags" or "env".');
      const variables = readVariables(env);
      if (tags !== undefined) await client.setTags(threadId, tags);
      for (const { name, value, type } of variables) {
        if (value === null) await client.unsetEnv({ thread: threadId }, name);
        else await client.setEnv({ thread: threadId }, name, value, { type });
      }
      return await client.getThread(threadId);
    },
  }),
  route({
    method: 'delete',
    path: '/v1/threads/{threadId}',
    id: 'deleteThread',
    scope: 'write',
    tag,
    summary: 'Terminate a thread with all its descendants, and delete their data',
    params: threadParams,
    answer: z.object({
      deleted: z.array(z.string()).meta({ description: 'Ids of the deleted threads' }),
      remaining: z
        .array(z.object({ workflowId: z.string(), runId: z.string(), until: z.number().nullable() }))
        .meta({ description: 'Histories that the Temporal server keeps until its retention ends' }),
    }),
    handle: ({ params: { threadId }, host }) => host.client.deleteThread(threadId),
  }),
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/family',
    id: 'getFamily',
    scope: 'read',
    tag,
    summary: 'Read a thread with all its descendants, each after its parent',
    params: threadParams,
    answer: z.object({ family: z.array(memberSchema) }),
    async handle({ params: { threadId }, host }) {
      return { family: await host.client.getFamily(threadId) };
    },
  }),
  route({
    method: 'post',
    path: '/v1/threads/{threadId}/fork',
    id: 'forkThread',
    scope: 'write',
    tag,
    summary: 'Fork a thread: a new one with its messages up to a settled step',
    params: threadParams,
    body: forkThread,
    bodyOptional: true,
    status: 201,
    answer: forkedThread,
    async handle({ params: { threadId }, body, caller, host }) {
      if (body.agent !== undefined) requireAgent(host, body.agent);
      const userId = caller.userId ?? body.userId;
      const forked = await host.client.forkThread(threadId, { ...body, userId });
      return jsonResponse(forked, 201, { location: `/v1/threads/${forked.threadId}` });
    },
  }),
  route({
    method: 'post',
    path: '/v1/threads/{threadId}/stop',
    id: 'stopThread',
    scope: 'write',
    tag,
    summary: 'Stop what a thread does now; it accepts further messages',
    params: threadParams,
    body: reasonBody,
    status: 202,
    answer: accepted,
    async handle({ params: { threadId }, body, host }) {
      await host.client.stop(threadId, body.reason);
      return { threadId };
    },
  }),
  route({
    method: 'post',
    path: '/v1/threads/{threadId}/continue',
    id: 'continueThread',
    scope: 'write',
    tag,
    summary: 'Continue a thread at rest without a new message: with its queued items, else from its history',
    params: threadParams,
    status: 202,
    answer: accepted,
    async handle({ params: { threadId }, host }) {
      await host.client.continue(threadId);
      return { threadId };
    },
  }),
  route({
    method: 'post',
    path: '/v1/threads/{threadId}/terminate',
    id: 'terminateThread',
    scope: 'write',
    tag,
    summary: 'Terminate a thread permanently',
    params: threadParams,
    body: reasonBody,
    answer: accepted,
    async handle({ params: { threadId }, body, host }) {
      await host.client.terminate(threadId, body.reason);
      return { threadId };
    },
  }),
  route({
    method: 'post',
    path: '/v1/threads/{threadId}/cancel',
    id: 'cancelExecution',
    scope: 'write',
    tag,
    summary: 'Cancel an execution: the one with the given id, or the running one',
    params: threadParams,
    body: cancelBody,
    status: 202,
    answer: executionSchema,
    async handle({ params: { threadId }, body, caller, host }) {
      const by = body.by ?? caller.name ?? undefined;
      return host.client.cancelExecution(threadId, { ...body, by });
    },
  }),
];
