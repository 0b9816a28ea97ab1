/** Grants: approvals that reach further than one call. Listing and revoking them needs only the store. */
import { RuntimeError } from '../core/value/error.ts';
import { BY_CHARS } from '../core/wait/answer.ts';
import type { Grant, ListGrants } from '../store/grant/grant-record.ts';
import type { ThreadStore } from '../store/store.ts';

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
    async list(options = {}) {
      const { limit } = options;
      if (limit !== undefined && !(Number.isInteger(limit) && limit > 0))
        throw new RuntimeError('InvalidValue', '"limit" must be a whole number above 0.');
      return grants.list(options);
    },
    get: async (id) => required(id, await grants.get(id)),
    async revoke(id, { by } = {}) {
      if (by !== undefined && (typeof by !== 'string' || by.length > BY_CHARS))
        throw new RuntimeError('InvalidValue', `"by" must be a string of at most ${BY_CHARS} characters.`);
      return required(id, await grants.revoke({ id, by }));
    },
  };
}

function required(id: string, grant: Grant | null): Grant {
  if (grant) return grant;
  throw new RuntimeError(
    'GrantNotFound',
    `There is no grant "${id}" in this store. "everthread grants list --all" lists the grants.`,
  );
}
