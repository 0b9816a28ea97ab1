/** Where the store lies unless `EVERTHREAD_STORE` says otherwise. Apart from open-store.ts: whoever only asks needs no database. */
export const DEFAULT_STORE = 'sqlite:.everthread/store.db';
