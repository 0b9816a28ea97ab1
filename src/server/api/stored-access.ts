/**
 * Access by tokens in the store, in addition to those of the environment.
 * - Once there has been a token, tokens stay mandatory, also after the last one is revoked.
 */
import { hash, randomBytes, randomUUID } from 'node:crypto';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ApiToken } from '../../store/token/token-record.ts';
import { type Access, bearerOf, loopbackAccess } from './access.ts';
import { API_SCOPES, type ApiScope } from './caller.ts';

export interface NewToken {
  readonly name?: string | undefined;
  /** `admin` unless given. */
  readonly scopes?: readonly string[] | undefined;
  readonly userId?: string | undefined;
  readonly organizationId?: string | undefined;
  /** Milliseconds until the token expires; never unless given. */
  readonly lifeMs?: number | undefined;
}

/** Creates a token. Returns its secret, which is not stored. Throws `InvalidValue` for an unknown or missing scope. */
export async function createToken(
  store: ThreadStore,
  { name = '', scopes = ['admin'], userId, organizationId, lifeMs }: NewToken,
): Promise<{ readonly secret: string; readonly token: ApiToken }> {
  const unknown = scopes.find((scope) => !API_SCOPES.includes(scope as ApiScope));
  if (unknown !== undefined || scopes.length === 0)
    throw new RuntimeError(
      'InvalidValue',
      `There is no scope ${JSON.stringify(unknown ?? '')}: the scopes are ${API_SCOPES.join(', ')}.`,
    );
  const secret = `et_${randomBytes(32).toString('base64url')}`;
  const token = await store.tokens.create({
    id: randomUUID(),
    digest: hash('sha256', secret),
    name: name === '' ? null : name,
    scopes,
    userId: userId ?? null,
    organizationId: organizationId ?? null,
    lifeMs: lifeMs ?? null,
  });
  return { secret, token };
}

/**
 * Accepts the tokens in a client's store, and requests that `known` accepts. As long as there has been no token,
 * only this machine is accepted.
 * @example
 * ```ts
 * const api = createApi({ client, access: storedAccess(client) });
 * ```
 */
export function storedAccess(from: RuntimeClient | ThreadStore, known: Access | null = null): Access {
  const store = 'tokens' in from ? from : from.store;
  let asksForTokens = known !== null;
  return async (request) => {
    const secret = bearerOf(request);
    const caller = known && (await known(request));
    if (caller) return caller;
    const token = secret === null ? null : await store.tokens.find(hash('sha256', secret));
    // Once tokens are mandatory, they stay so.
    asksForTokens ||= token !== null || (await store.tokens.list()).length > 0;
    if (!asksForTokens) return loopbackAccess(request);
    return token && { ...token, scopes: token.scopes as readonly ApiScope[] };
  };
}
