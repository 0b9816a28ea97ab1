/** The server itself: liveness, readiness, and the agents of the project. */
import { z } from '@hono/zod-openapi';
import { jsonResponse } from '../problem.ts';
import { type ApiRoute, route } from '../route.ts';

const tag = 'Service';

export const serviceRoutes: readonly ApiRoute[] = [
  route({
    method: 'get',
    path: '/healthz',
    id: 'health',
    scope: 'none',
    tag,
    summary: 'The process is running',
    answer: z.object({ status: z.literal('ok') }),
    handle: () => ({ status: 'ok' }),
  }),
  route({
    method: 'get',
    path: '/readyz',
    id: 'readiness',
    scope: 'none',
    tag,
    summary: 'Store and Temporal server answer; 503 if one does not',
    answer: z.object({ status: z.enum(['ready', 'unavailable']), store: z.boolean(), temporal: z.boolean() }),
    async handle({ host: { client } }) {
      const [store, temporal] = await Promise.all([
        succeeds(client.listThreads({ limit: 1 })),
        succeeds(client.temporal.workflowService.getSystemInfo({})),
      ]);
      const ready = store && temporal;
      return jsonResponse({ status: ready ? 'ready' : 'unavailable', store, temporal }, ready ? 200 : 503);
    },
  }),
  route({
    method: 'get',
    path: '/v1/agents',
    id: 'listAgents',
    scope: 'read',
    tag,
    summary: 'List the agents of the project',
    answer: z.object({
      agents: z.array(
        z.object({ name: z.string(), title: z.string().nullable(), description: z.string().nullable() }),
      ),
    }),
    handle: ({ host }) => ({
      agents: (host.agents?.() ?? []).map(({ name, title, description }) => ({ name, title, description })),
    }),
  }),
];

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
