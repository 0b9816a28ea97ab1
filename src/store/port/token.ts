/** Tokens of the HTTP API. The secret is its holder's alone: the store has its digest. */

export interface ApiToken {
  readonly id: string;
  /** For display, and for what its holder has done. */
  readonly name: string | null;
  readonly scopes: readonly string[];
  /** The `userId` of the threads that it reaches; null: of all. */
  readonly userId: string | null;
  /** Of the threads that it starts. */
  readonly organizationId: string | null;
  /** Microseconds since 1970, as are the others. */
  readonly createdAt: number;
  /** Null: never. */
  readonly expiresAt: number | null;
  /** Null: it holds. */
  readonly revokedAt: number | null;
}

export interface CreateToken extends Pick<ApiToken, 'id' | 'name' | 'scopes' | 'userId' | 'organizationId'> {
  /** SHA-256 of the secret, in hex. */
  readonly digest: string;
  /** Milliseconds from now; null: for ever. */
  readonly lifeMs: number | null;
}

export interface TokenStore {
  create(command: CreateToken): Promise<ApiToken>;
  /** By its digest; null for one that is not known, is revoked, or has expired. */
  find(digest: string): Promise<ApiToken | null>;
  /** The oldest first, those that no longer hold too. */
  list(): Promise<readonly ApiToken[]>;
  /** A secret of the store, the same for whoever asks: made by the first. What is signed with it is known again by every process of the store. */
  signingKey(): Promise<string>;
  /** Null where there is none. One that is revoked stays revoked as of then. */
  revoke(id: string): Promise<ApiToken | null>;
}
