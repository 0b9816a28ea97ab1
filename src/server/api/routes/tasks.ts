/** Tasks: started, listed, read, aborted, followed. Their waits are answered like any other wait. */
import { z } from '@hono/zod-openapi';
import { taskPages } from '../../../client/follow-task.ts';
import { TASK_STATES } from '../../../core/task/control.ts';
import { RuntimeError } from '../../../core/value/error.ts';
import { readCursor } from '../../../projections/projection.ts';
import type { ListTasks } from '../../../store/task/task-record.ts';
import { ownThreadFilters } from '../caller.ts';
import { formatOf, logResponse, resumeCursor } from '../log-stream.ts';
import { jsonResponse } from '../problem.ts';
import { type ApiRoute, type LookupInput, route } from '../route.ts';
import { flag, limit, reasonBody } from '../schema/given.ts';
import { taskSchema, taskStepSchema } from '../schema/records.ts';

const tag = 'Tasks';
const params = z.object({ taskId: z.string() });
const findTask = ({ params: { taskId }, host }: LookupInput<typeof params, undefined>) =>
  host.client.tasks.get(taskId);
const object = z.record(z.string(), z.unknown());

const startBody = z.object({
  task: z.string().min(1),
  id: z.string().optional(),
  intent: z.string().optional(),
  domain: z.string().optional(),
  inputs: object.optional(),
  requiredKnowledge: z.array(object).optional(),
  budget: z
    .object({
      maxSteps: z.number().optional(),
      maxWallMs: z.number().optional(),
      maxCostUsd: z.number().optional(),
    })
    .optional(),
  metadata: object.optional(),
  userId: z.string().optional(),
  organizationId: z.string().optional(),
  scenarioId: z.string().optional(),
});

function readPlace(cursor: string): NonNullable<ListTasks['before']> {
  const { at, id } = /^(?<at>\d{1,16})\.(?<id>.{1,200})$/.exec(cursor)?.groups ?? {};
  if (id === undefined)
    throw new RuntimeError(
      'InvalidCursor',
      `${JSON.stringify(cursor)} is not a cursor of a list of tasks: use the createdAt of the last task, a dot, and its id.`,
    );
  return { id, createdAt: Number(at) };
}

export const taskRoutes: readonly ApiRoute[] = [
  route({
    method: 'post',
    path: '/v1/tasks',
    id: 'startTask',
    scope: 'write',
    tag,
    summary: 'Start a task; repeating it with the same id returns the same task',
    body: startBody,
    status: 201,
    answer: z.object({ id: z.string() }),
    async handle({ body, caller, host }) {
      // The caller's user and organisation, if there are any, override those of the body.
      const given = { ...body, ...ownThreadFilters(caller) };
      const started = await host.client.tasks.start(given as Parameters<typeof host.client.tasks.start>[0]);
      return jsonResponse(started, 201, { location: `/v1/tasks/${started.id}` });
    },
  }),
  route({
    method: 'get',
    path: '/v1/tasks',
    id: 'listTasks',
    scope: 'read',
    tag,
    summary: 'List tasks, latest first',
    query: z.object({
      name: z.string().optional(),
      status: z.enum(TASK_STATES).optional(),
      userId: z.string().optional(),
      limit,
      cursor: z
        .string()
        .optional()
        .meta({ description: 'Continues after a task: its `createdAt`, a dot, its `id`' }),
    }),
    answer: z.object({ tasks: z.array(taskSchema) }),
    async handle({ query: { cursor, ...filters }, caller, host }) {
      const before = cursor === undefined ? {} : { before: readPlace(cursor) };
      return {
        tasks: await host.client.tasks.list({ ...filters, ...before, ...ownThreadFilters(caller) }),
      };
    },
  }),
  route({
    method: 'get',
    path: '/v1/tasks/{taskId}',
    id: 'getTask',
    scope: 'read',
    tag,
    summary: 'Read a task: its input, its progress and its outcome',
    params,
    answer: taskSchema,
    find: findTask,
    handle: ({ found }) => found,
  }),
  route({
    method: 'get',
    path: '/v1/tasks/{taskId}/steps',
    id: 'listTaskSteps',
    scope: 'read',
    tag,
    summary: 'List the steps of a task in order, from a step number on',
    params,
    query: z.object({ from: z.coerce.number().int().min(0).optional(), limit }),
    answer: z.object({ steps: z.array(taskStepSchema) }),
    find: ({ params: { taskId }, host }) => host.client.tasks.get(taskId),
    handle: async ({ found: { id }, query, host }) => ({
      steps: await host.client.tasks.listSteps(id, query.from, query.limit),
    }),
  }),
  route({
    method: 'post',
    path: '/v1/tasks/{taskId}/abort',
    id: 'abortTask',
    scope: 'write',
    tag,
    summary: 'Abort a task immediately',
    params,
    body: reasonBody,
    status: 202,
    answer: z.object({ id: z.string() }),
    find: findTask,
    async handle({ found: { id }, body, host }) {
      await host.client.tasks.abort(id, body?.reason);
      return { id };
    },
  }),
  route({
    method: 'get',
    path: '/v1/tasks/{taskId}/events',
    id: 'readTaskEvents',
    scope: 'read',
    tag,
    summary:
      'Read the stream of a task: complete as JSON, or live as `text/event-stream` or `application/x-ndjson`',
    params,
    query: z.object({
      after: z.string().optional().meta({ description: 'A cursor; `0`: from the beginning' }),
      follow: flag.meta({ description: '`false`: a stream ends at the current end of the log' }),
    }),
    answer: z.object({ events: z.array(z.looseObject({ cursor: z.string(), event: z.unknown() })) }),
    find: ({ params: { taskId }, host }) => host.client.tasks.get(taskId),
    async handle({ found, query: { after: given, follow = true }, request, host }) {
      const format = formatOf(request);
      const start = resumeCursor(request, given) ?? '0';
      const after = start === '0' ? undefined : start;
      // Checked before the response begins: a stream that has begun cannot report an error.
      if (after !== undefined) readCursor(after);
      const store = host.client.store;
      if (format === 'json') {
        const pages = [];
        for await (const page of taskPages(store, found, { after, follow: false })) pages.push(...page);
        return { events: pages };
      }
      return logResponse(host, {
        request,
        threadId: found.threadId,
        format,
        start,
        follow,
        isComplete: found.endedAt !== null,
        pages: (how) => frames(taskPages(store, found, { after, marks: how.follow !== false, ...how })),
      });
    },
  }),
];

async function* frames(pages: ReturnType<typeof taskPages>) {
  for await (const page of pages) yield page.map(({ cursor, event }) => ({ cursor, data: event }));
}
