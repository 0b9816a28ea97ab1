/**
 * Tokens of the HTTP API. The store has only the digest of a token's secret, which its holder alone knows: a token is
 * found by it.
 */

export interface ApiToken {
  readonly id: string;
  /** Name for display, and for recording what its holder has done. */
  readonly name: string | null;
  readonly scopes: readonly string[];
  /** The `userId` of the threads that it gives access to; null for all threads. */
  readonly userId: string | null;
  /** Organisation of the threads that it starts. */
  readonly organizationId: string | null;
  /** Microseconds since 1970, like the times below. */
  readonly createdAt: number;
  /** Null if it never expires. */
  readonly expiresAt: number | null;
  /** Null if it is not revoked. */
  readonly revokedAt: number | null;
}

export interface CreateToken extends Pick<ApiToken, 'id' | 'name' | 'scopes' | 'userId' | 'organizationId'> {
  /** SHA-256 of the secret, in hex. */
  readonly digest: string;
  /** Milliseconds from now until it expires; null if it never does. */
  readonly lifeMs: number | null;
}

export interface TokenTable {
  id: string;
  /** SHA-256 of the token, in hex. */
  digest: string;
  name: string | null;
  /** Separated by spaces. */
  scopes: string;
  user_id: string | null;
  organization_id: string | null;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
}

export interface TokenTables {
  api_tokens: TokenTable;
}
