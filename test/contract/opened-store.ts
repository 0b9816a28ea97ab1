/** Connections of one suite to the data of one store, whatever its engine; all are closed at its end. */
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { TEST_KEYS } from './env-keys.ts';
import type { OpenedStore } from './store-contract.ts';

/** `folder` is the base of a relative path in the address. */
export async function openForSuite(address: string, folder = ''): Promise<OpenedStore> {
  const handles = new Set<ThreadStore>();
  const second = async (keys = TEST_KEYS) => {
    const handle = await openStore(address, folder, { keys });
    handles.add(handle);
    return handle;
  };
  const store = await second();
  return {
    store,
    second,
    async reopen() {
      handles.delete(store);
      await store.close();
      return second();
    },
    async close() {
      for (const handle of handles) await handle.close();
    },
  };
}
