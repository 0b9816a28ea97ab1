/** Data of a thread: its values, its effects, the log of its calls, what its models were sent, its variables, its budget. */
import { z } from '@hono/zod-openapi';
import type { MemberUsage } from '../../../client/http/answers.ts';
import type { ThreadRecord } from '../../../store/thread/thread-record.ts';
import { type ApiRoute, route } from '../route.ts';
import { limit, order, threadParams } from '../schema/given.ts';
import {
  budgetLineSchema,
  effectSchema,
  logSchema,
  modelCallSchema,
  requestSchema,
} from '../schema/records.ts';

const tag = 'Thread data';
const PAGE = 100;
const valueSchema = z.looseObject({
  key: z.string(),
  value: z.unknown(),
  updatedAt: z.int().meta({ description: 'Microseconds since 1970' }),
});

const memberUsageSchema = z.object({
  threadId: z.string(),
  agent: z.string(),
  parentId: z.string().nullable(),
  costUsd: z.number(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  steps: z.int(),
});
const variableSchema = z.object({
  name: z.string(),
  type: z.enum(['text', 'secret']),
  source: z.enum(['thread', 'user', 'instance']),
  updatedAt: z.int().meta({ description: 'Microseconds since 1970' }),
  overridden: z
    .literal(true)
    .optional()
    .meta({ description: 'Set if a narrower source has the same name: the thread reads that one' }),
});

export const threadDataRoutes: readonly ApiRoute[] = [
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/values/{key}',
    id: 'getValue',
    scope: 'read',
    tag,
    summary: 'Read a value of the thread',
    params: threadParams.extend({ key: z.string() }),
    answer: z.object({ key: z.string(), value: z.unknown() }),
    async handle({ params: { threadId, key }, host }) {
      return { key, value: (await host.client.values(threadId).get(key)) ?? null };
    },
  }),
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/values',
    id: 'listValues',
    scope: 'read',
    tag,
    summary: 'List values of the thread, by key',
    params: threadParams,
    query: z.object({
      limit,
      after: z.string().optional().meta({ description: 'Only keys after this one' }),
    }),
    answer: z.object({ values: z.array(valueSchema) }),
    async handle({ params: { threadId }, query, host }) {
      return { values: await host.client.values(threadId).list(query) };
    },
  }),
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/effects',
    id: 'listEffects',
    scope: 'read',
    tag,
    summary: 'List pending effects, next due first',
    params: threadParams,
    query: z.object({ name: z.string().optional() }),
    answer: z.object({ effects: z.array(effectSchema) }),
    async handle({ params: { threadId }, query, host }) {
      return { effects: await host.client.listEffects(threadId, query.name) };
    },
  }),
  route({
    method: 'post',
    path: '/v1/threads/{threadId}/effects/{effectId}/run',
    id: 'runEffect',
    scope: 'write',
    tag,
    summary: 'Make a pending effect due now',
    params: threadParams.extend({ effectId: z.string() }),
    status: 202,
    answer: z.object({ due: z.boolean().meta({ description: 'False if it has fired, or does not exist' }) }),
    async handle({ params: { threadId, effectId }, host }) {
      return { due: await host.client.runEffect(threadId, effectId) };
    },
  }),
  route({
    method: 'delete',
    path: '/v1/threads/{threadId}/effects/{effectId}',
    id: 'removeEffect',
    scope: 'write',
    tag,
    summary: 'Remove a pending effect',
    params: threadParams.extend({ effectId: z.string() }),
    answer: z.object({
      removed: z.boolean().meta({ description: 'False if it has fired, or does not exist' }),
    }),
    async handle({ params: { threadId, effectId }, host }) {
      return { removed: await host.client.removeEffect(threadId, effectId) };
    },
  }),
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/logs',
    id: 'listLogs',
    scope: 'read',
    tag,
    summary: 'List model calls with usage and cost, tool calls and executions, newest first',
    params: threadParams,
    query: z.object({
      limit,
      offset: z.coerce.number().int().min(0).optional(),
      order,
    }),
    answer: z.object({ logs: z.array(logSchema) }),
    async handle({ params: { threadId }, query, host }) {
      return { logs: await host.client.getLogs(threadId, query) };
    },
  }),
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/env',
    id: 'listThreadEnv',
    scope: 'read',
    tag,
    summary: 'List the variables that the thread may read: names, types and sources, never values',
    params: threadParams,
    answer: z.object({ variables: z.array(variableSchema) }),
    async handle({ params: { threadId }, host }) {
      return { variables: await host.client.listThreadEnv(threadId) };
    },
  }),
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/model-calls',
    id: 'listModelCalls',
    scope: 'read',
    tag,
    summary: 'List requests to models, by step, attempt and number',
    params: threadParams,
    query: z.object({
      limit,
      after: z.string().optional().meta({
        description: 'The id of a call, or a cursor: only calls after it, in the order of the list',
      }),
      order,
    }),
    answer: z.object({
      modelCalls: z.array(modelCallSchema),
      cursor: z.string().nullable().meta({ description: 'Null if there are no more calls' }),
    }),
    async handle({ params: { threadId }, query: { limit: most = PAGE, ...query }, host }) {
      const found = await host.client.listModelCalls(threadId, { ...query, limit: most + 1 });
      const modelCalls = found.slice(0, most);
      return { modelCalls, cursor: found.length > most ? (modelCalls.at(-1)?.id ?? null) : null };
    },
  }),
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/model-calls/{callId}/request',
    id: 'getModelRequest',
    scope: 'read',
    tag,
    summary: 'Read what a model was sent, and what differs from the request before',
    params: threadParams.extend({ callId: z.string().meta({ description: 'step.attempt.call' }) }),
    answer: requestSchema,
    async handle({ params: { threadId, callId }, host }) {
      return host.client.getRequest(threadId, callId);
    },
  }),
  route({
    method: 'get',
    path: '/v1/threads/{threadId}/budget',
    id: 'getBudget',
    scope: 'read',
    tag,
    summary:
      'Read the limits of the newest execution, how much of each is used, and what each member of the family has used',
    params: threadParams,
    answer: z.object({ lines: z.array(budgetLineSchema), members: z.array(memberUsageSchema) }),
    async handle({ params: { threadId }, host: { client } }) {
      const [lines, family] = [await client.getBudget(threadId), await client.getFamily(threadId)];
      return { lines, members: family.map(({ thread }) => toUsage(thread)) };
    },
  }),
];

function toUsage({ id, lastStep, ...thread }: ThreadRecord): MemberUsage {
  const { agent, parentId, costUsd, inputTokens, outputTokens } = thread;
  return { threadId: id, agent, parentId, costUsd, inputTokens, outputTokens, steps: lastStep };
}
