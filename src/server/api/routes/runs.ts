/** Executions of all threads, their run reports, and the actions in them. */
import { z } from '@hono/zod-openapi';
import type { RunRecord } from '../../../client/run-record.ts';
import { ACTION_STATES } from '../../../core/governance/agent-policy.ts';
import { RuntimeError } from '../../../core/value/error.ts';
import { RUN_STATES, type RunRecordState } from '../../../store/execution/execution-record.ts';
import { requireThreadAccess } from '../own-list.ts';
import { type ApiRoute, type LookupInput, route } from '../route.ts';
import { limit, reconciliationBody } from '../schema/given.ts';
import { actionSchema, listedExecutionSchema, reportSchema, runSchema } from '../schema/records.ts';

const tag = 'Runs';
const params = z.object({ runId: z.string() });
const threadQuery = z.object({ threadId: z.string().optional() });
const findRun = ({ params: { runId }, query, host }: LookupInput<typeof params, typeof threadQuery>) =>
  host.client.runs.get(runId, query.threadId);

function toListedExecution({ id, agent, state: status, reason, startedAt, endedAt, firstSeq }: RunRecord) {
  return { id, agent, status, reason, startedAt, endedAt, firstSeq };
}

export const runRoutes: readonly ApiRoute[] = [
  route({
    method: 'get',
    path: '/v1/runs',
    id: 'listRuns',
    scope: 'read',
    tag,
    summary: 'List executions, latest first',
    query: threadQuery.extend({
      runId: z.string().optional(),
      sessionId: z.string().optional(),
      traceId: z.string().optional(),
      agent: z.string().optional(),
      state: z.enum(RUN_STATES as [RunRecordState, ...RunRecordState[]]).optional(),
      limit,
    }),
    answer: z.object({ runs: z.array(runSchema) }),
    async handle({ query, caller, host }) {
      await requireThreadAccess(host.client, caller, query.threadId);
      return { runs: await host.client.runs.list(query) };
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
    query: threadQuery,
    answer: runSchema,
    find: findRun,
    handle: ({ found }) => found,
  }),
  route({
    method: 'get',
    path: '/v1/runs/{runId}/report',
    id: 'getRunReport',
    scope: 'read',
    tag,
    summary: 'Read what happened in an execution, grouped by type',
    params,
    query: threadQuery,
    answer: reportSchema,
    find: findRun,
    handle: async ({ found: { id, threadId }, host }) => await host.client.runs.report(id, { threadId }),
  }),
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/executions',
    id: 'listExecutions',
    scope: 'read',
    tag,
    summary: 'List the executions of a thread, latest first, each with the number of its first event',
    params: z.object({ threadId: z.string() }),
    query: z.object({
      before: z
        .string()
        .optional()
        .meta({ description: 'The id of the last execution of the previous page' }),
      limit,
    }),
    answer: z.object({ executions: z.array(listedExecutionSchema) }),
    async handle({ params: { threadId }, query, host }) {
      const { runs } = host.client;
      const before = query.before === undefined ? undefined : await runs.get(query.before, threadId);
      const found = await runs.list({ threadId, before, limit: query.limit });
      return { executions: found.map(toListedExecution) };
    },
  }),
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/actions',
    id: 'listActions',
    scope: 'read',
    tag,
    summary: 'List the calls of a thread that policies have judged, newest first',
    params: z.object({ threadId: z.string() }),
    query: z.object({ state: z.enum(ACTION_STATES).optional(), limit }),
    answer: z.object({ actions: z.array(actionSchema) }),
    async handle({ params: { threadId }, query, host }) {
      return { actions: await host.client.listActions({ ...query, threadId }) };
    },
  }),
  route({
    method: 'post',
    path: '/v1/actions/{actionId}/reconcile',
    id: 'reconcileAction',
    scope: 'answer',
    tag,
    summary: 'Record the outcome of a call whose outcome is unknown, once; the call is not repeated',
    params: z.object({ actionId: z.string() }),
    body: reconciliationBody,
    answer: actionSchema,
    async find({ params: { actionId: id }, host }) {
      const [action] = await host.client.listActions({ id });
      if (!action) throw new RuntimeError('ActionNotFound', `There is no action "${id}".`);
      return action;
    },
    async handle({ found: { id }, body, caller, host }) {
      const { by = caller.name ?? undefined, ...said } = body;
      return host.client.reconcileAction(id, by === undefined ? said : { ...said, by });
    },
  }),
];
