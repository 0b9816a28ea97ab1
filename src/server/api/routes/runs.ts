/** Executions of all threads, and what was told of them. */
import { z } from '@hono/zod-openapi';
import { RUN_STATES, type RunRecordState } from '../../../store/port/execution.ts';
import { requireThreadOf } from '../own-list.ts';
import { jsonResponse } from '../problem.ts';
import { type ApiRoute, type Asked, route } from '../route.ts';
import { limit } from '../schema/given.ts';
import { actionSchema, runSchema } from '../schema/records.ts';

const tag = 'Runs';
const params = z.object({ runId: z.string() });
const ofThread = z.object({ threadId: z.string().optional() });
const findRun = ({ params: { runId }, query, host }: Asked<typeof params, typeof ofThread>) =>
  host.client.runs.get(runId, query.threadId);

export const runRoutes: readonly ApiRoute[] = [
  route({
    method: 'get',
    path: '/v1/runs',
    id: 'listRuns',
    scope: 'read',
    tag,
    summary: 'List executions, the latest first',
    query: ofThread.extend({
      runId: z.string().optional(),
      sessionId: z.string().optional(),
      traceId: z.string().optional(),
      agent: z.string().optional(),
      state: z.enum(RUN_STATES as [RunRecordState, ...RunRecordState[]]).optional(),
      limit,
    }),
    answer: z.object({ runs: z.array(runSchema) }),
    async handle({ query, caller, host }) {
      await requireThreadOf(host.client, caller, query.threadId);
      return jsonResponse({ runs: await host.client.runs.list(query) });
    },
  }),
  route({
    method: 'get',
    path: '/v1/runs/{runId}',
    id: 'getRun',
    scope: 'read',
    tag,
    summary: 'Read an execution',
    params,
    query: ofThread,
    answer: runSchema,
    find: findRun,
    handle: ({ found }) => jsonResponse(found),
  }),
  route({
    method: 'get',
    path: '/v1/runs/{runId}/report',
    id: 'getRunReport',
    scope: 'read',
    tag,
    summary: 'Read what happened in an execution, sorted by what it is',
    params,
    query: ofThread,
    answer: z.looseObject({ version: z.string() }),
    find: findRun,
    handle: async ({ found: { id, threadId }, host }) =>
      jsonResponse(await host.client.runs.report(id, { threadId })),
  }),
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/actions',
    id: 'listActions',
    scope: 'read',
    tag,
    summary: 'List the calls of a thread that policies have judged, the newest first',
    params: z.object({ threadId: z.string() }),
    query: z.object({ limit }),
    answer: z.object({ actions: z.array(actionSchema) }),
    async handle({ params: { threadId }, query, host }) {
      return jsonResponse({ actions: await host.client.listActions({ ...query, threadId }) });
    },
  }),
];
