/**
 * Address of the store if `EVERTHREAD_STORE` is not set. Separate from open-store.ts, so that reading it loads no
 * database.
 */
export const DEFAULT_STORE = 'sqlite:.everthread/store.db';
