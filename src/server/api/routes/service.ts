/** The server itself: liveness, readiness, and the agents of the project. */
import { z } from '@hono/zod-openapi';
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import { packageVersion } from '../../../temporal-service/package-root.ts';
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
    path: '/v1/whoami',
    id: 'whoami',
    scope: 'read',
    tag,
    summary: 'Read whose token this is: its name, its scopes, and whose threads it may reach',
    answer: z.object({
      name: z.string().nullable(),
      scopes: z.array(z.string()).meta({ description: '`admin` allows everything' }),
      userId: z.string().nullable(),
      organizationId: z.string().nullable(),
    }),
    handle: ({ caller: { name, scopes, userId, organizationId = null } }) => ({
      name,
      scopes,
      userId,
      organizationId,
    }),
  }),
  route({
    method: 'get',
    path: '/v1/server',
    id: 'getServer',
    scope: 'read',
    tag,
    summary: 'Read the version of the server, and which Temporal server it uses',
    answer: z.object({
      version: z.string(),
      temporal: z.object({
        address: z.string().nullable(),
        namespace: z.string(),
        uiUrl: z
          .string()
          .nullable()
          .meta({ description: 'Address of its Web UI, if the server knows it (`EVERTHREAD_UI_URL`)' }),
      }),
    }),
    handle: ({ host: { client, uiUrl } }) => ({
      version: packageVersion(),
      temporal: { ...placeOf(client), uiUrl },
    }),
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

/** Where the client reaches Temporal. */
function placeOf({ temporal }: RuntimeClient) {
  const { options } = temporal.connection as { readonly options?: { readonly address?: string } };
  return { address: options?.address ?? null, namespace: temporal.options.namespace };
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
