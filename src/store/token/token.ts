/** Tokens of the HTTP API. A token's id is the key of its creation and of its revocation. */
import { randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { CommandContext } from '../transaction/context.ts';
import { findRow, readRow, updateRows } from '../transaction/rows.ts';
import type { ApiToken, CreateToken, TokenTable } from './token-record.ts';

export async function createToken({ db, clock }: CommandContext, command: CreateToken): Promise<ApiToken> {
  const { id, digest, name, scopes, userId, organizationId, lifeMs } = command;
  const now = await clock(db);
  await db
    .insertInto('api_tokens')
    .values({
      id,
      digest,
      name,
      scopes: scopes.join(' '),
      user_id: userId,
      organization_id: organizationId,
      created_at: now,
      expires_at: lifeMs === null ? null : now + lifeMs * 1000,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  return toToken(await readRow(db, 'api_tokens', { id }));
}

/** Finds a token by its digest; null if it is unknown, revoked or expired. */
export async function findToken({ db, clock }: CommandContext, digest: string): Promise<ApiToken | null> {
  const row = await findRow(db, 'api_tokens', { digest, revoked_at: null });
  const token = row && toToken(row);
  if (!token) return null;
  return token.expiresAt !== null && token.expiresAt <= (await clock(db)) ? null : token;
}

/** All tokens, oldest first, including revoked and expired ones. */
export async function listTokens({ db }: CommandContext): Promise<readonly ApiToken[]> {
  const rows = await db.selectFrom('api_tokens').selectAll().orderBy('created_at').orderBy('id').execute();
  return rows.map(toToken);
}

/** Revokes a token. A revoked one keeps the time of its revocation. Null if there is none. */
export async function revokeToken({ db, clock }: CommandContext, id: string): Promise<ApiToken | null> {
  await updateRows(db, 'api_tokens', { id, revoked_at: null }, { revoked_at: await clock(db) });
  const row = await findRow(db, 'api_tokens', { id });
  return row ? toToken(row) : null;
}

const SIGNING_KEY = 'signing_key';

/**
 * A secret of the store, created by the first process that asks and the same for all. Every process of the store can
 * verify what was signed with it.
 */
export async function readSigningKey({ db }: CommandContext): Promise<string> {
  const read = () => findRow(db, 'meta', { key: SIGNING_KEY }, ['value']);
  const known = await read();
  if (known) return known.value;
  await db
    .insertInto('meta')
    .values({ key: SIGNING_KEY, value: randomBytes(32).toString('base64url') })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute();
  return (await read())?.value ?? '';
}

function toToken(row: Selectable<TokenTable>): ApiToken {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes.split(' '),
    userId: row.user_id,
    organizationId: row.organization_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}
