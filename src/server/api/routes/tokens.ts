/** Tokens in the store: created, listed, revoked. A caller that is limited to a user or an organisation is refused. */
import { z } from '@hono/zod-openapi';
import { RuntimeError } from '../../../core/value/error.ts';
import { API_SCOPES, type Caller, isLimited } from '../caller.ts';
import { type ApiRoute, route } from '../route.ts';
import { tokenSchema } from '../schema/records.ts';
import { createToken } from '../stored-access.ts';

const tag = 'Tokens';

export const tokenRoutes: readonly ApiRoute[] = [
  route({
    method: 'get',
    path: '/v1/tokens',
    id: 'listTokens',
    scope: 'admin',
    tag,
    summary: 'List the tokens of the store, oldest first, including expired and revoked ones',
    answer: z.object({ tokens: z.array(tokenSchema) }),
    async handle({ caller, host }) {
      requireUnlimited(caller);
      return { tokens: await host.client.store.tokens.list() };
    },
  }),
  route({
    method: 'post',
    path: '/v1/tokens',
    id: 'createToken',
    scope: 'admin',
    tag,
    summary: 'Create a token; its secret is returned only once',
    body: z.strictObject({
      name: z.string().max(200).optional(),
      scopes: z.array(z.enum(API_SCOPES)).min(1).optional(),
      userId: z.string().min(1).max(200).optional(),
      organizationId: z.string().min(1).max(200).optional(),
      lifeMs: z
        .int()
        .min(1)
        .optional()
        .meta({ description: 'Milliseconds; default: the token never expires' }),
    }),
    status: 201,
    answer: z.object({ secret: z.string(), token: tokenSchema }),
    async handle({ body, caller, host }) {
      requireUnlimited(caller);
      return await createToken(host.client.store, body);
    },
  }),
  route({
    method: 'delete',
    path: '/v1/tokens/{tokenId}',
    id: 'revokeToken',
    scope: 'admin',
    tag,
    summary: 'Revoke a token; it is refused from the next request on',
    params: z.object({ tokenId: z.string() }),
    answer: tokenSchema,
    async handle({ params: { tokenId }, caller, host }) {
      requireUnlimited(caller);
      const token = await host.client.store.tokens.revoke(tokenId);
      if (token) return token;
      throw new RuntimeError('TokenNotFound', `There is no token "${tokenId}": /v1/tokens lists the tokens.`);
    },
  }),
];

/** Throws `Forbidden`: a limited caller could create a token without its limits. */
function requireUnlimited(caller: Caller): void {
  if (!isLimited(caller)) return;
  throw new RuntimeError(
    'Forbidden',
    'A token of a user or of an organisation can neither read, create nor revoke tokens.',
  );
}
