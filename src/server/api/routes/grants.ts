/** Grants: approvals that reach further than one call. */
import { z } from '@hono/zod-openapi';
import { grantNotFound } from '../../../client/stored-grants.ts';
import type { Grant } from '../../../store/grant/grant-record.ts';
import { type Caller, requireReachable } from '../caller.ts';
import type { ApiHost } from '../host.ts';
import { requireThreadAccess } from '../own-list.ts';
import { type ApiRoute, route } from '../route.ts';
import { flag, limit } from '../schema/given.ts';
import { grantSchema } from '../schema/records.ts';

const tag = 'Waits';

export const grantRoutes: readonly ApiRoute[] = [
  route({
    method: 'get',
    path: '/v1/grants',
    id: 'listGrants',
    scope: 'read',
    tag,
    summary: 'List the grants that count, newest first; with `threadId` those that apply to this thread',
    query: z.object({ threadId: z.string().optional(), all: flag, limit }),
    answer: z.object({ grants: z.array(grantSchema) }),
    async handle({ query, caller, host }) {
      await requireThreadAccess(host.client, caller, query.threadId);
      return { grants: await host.client.grants.list(query) };
    },
  }),
  route({
    method: 'post',
    path: '/v1/grants/{grantId}/revoke',
    id: 'revokeGrant',
    scope: 'answer',
    tag,
    summary: 'Revoke a grant: it counts for no call that begins later; again changes nothing',
    params: z.object({ grantId: z.string() }),
    body: z.strictObject({ by: z.string().optional() }),
    bodyOptional: true,
    answer: grantSchema,
    async handle({ params: { grantId }, body, caller, host }) {
      await requireOwnGrant(host, caller, await host.client.grants.get(grantId));
      return host.client.grants.revoke(grantId, { by: body.by ?? caller.name ?? undefined });
    },
  }),
];

/** Throws `ThreadNotFound` for a grant of others; `GrantNotFound` if its thread is deleted: it belongs to its user. */
async function requireOwnGrant({ client }: ApiHost, caller: Caller, grant: Grant): Promise<void> {
  if (grant.threadId !== null) return void (await requireReachable(client, caller, grant.threadId));
  const isOwn =
    (caller.organizationId == null || grant.organizationId === caller.organizationId) &&
    (caller.userId === null || grant.userId === caller.userId);
  if (!isOwn) throw grantNotFound(grant.id);
}
