/** Grants: approvals that reach further than one call. Listing and revoking them needs only the store. */
import { checkGrantPage } from '../core/author/read-options.ts';
import { RuntimeError } from '../core/value/error.ts';
import { BY_CHARS } from '../core/wait/answer.ts';
import type { Grant, ListGrants } from '../store/grant/grant-record.ts';
import type { ThreadStore } from '../store/store.ts';
import { givenText } from './stored-actions.ts';

export interface StoredGrants {
  /** Newest first: those that count, unless `all`; with `threadId` those that apply to this thread. Throws `InvalidValue`. */
  list(options?: ListGrants): Promise<readonly Grant[]>;
  /** Throws `GrantNotFound`. */
  get(id: string): Promise<Grant>;
  /**
   * Revokes a grant: it counts for no call that begins later. Again changes nothing. `by`: at most 256 characters.
   * Throws `GrantNotFound`, `InvalidValue`.
   */
  revoke(id: string, options?: { readonly by?: string }): Promise<Grant>;
}

export function storedGrants(store: ThreadStore): StoredGrants {
  const { grants } = store;
  return {
    list: async (options = {}) => grants.list(checkGrantPage(options)),
    get: async (id) => required(id, await grants.get(id)),
    revoke: async (id, { by } = {}) =>
      required(id, await grants.revoke({ id, ...givenText('by', by, BY_CHARS) })),
  };
}

function required(id: string, grant: Grant | null): Grant {
  if (grant) return grant;
  throw grantNotFound(id);
}

export function grantNotFound(id: string): RuntimeError {
  return new RuntimeError(
    'GrantNotFound',
    `There is no grant "${id}" in this store. "everthread grants list --all" lists the grants.`,
  );
}
