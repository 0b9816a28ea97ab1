/** The table of tokens of the HTTP API. A token itself is not stored: it is found by its digest. */

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
