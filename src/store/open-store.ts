/** From a store's address (`EVERTHREAD_STORE`) to the store. */
import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { RuntimeError } from '../core/error.ts';
import type { ThreadStore } from './port.ts';
import { openSqliteStore } from './sql-store.ts';

export const DEFAULT_STORE = 'sqlite:.everthread/store.db';

/**
 * Opens `sqlite:<path>[?synchronous=normal]`, a path being relative to the project's folder.
 * Throws `InvalidConfiguration` for anything else.
 */
export async function openStore(address: string, projectDir: string): Promise<ThreadStore> {
  const [scheme, rest] = splitScheme(address);
  if (scheme !== 'sqlite' || rest.length === 0) {
    throw new RuntimeError(
      'InvalidConfiguration',
      `The store "${address}" cannot be used: write sqlite:<path>, for example ${DEFAULT_STORE}.`,
    );
  }
  const [path, query = ''] = rest.split('?') as [string, string?];
  const file = resolve(projectDir, path);
  mkdirSync(dirname(file), { recursive: true });
  const synchronous = new URLSearchParams(query).get('synchronous') === 'normal' ? 'normal' : 'full';
  return openSqliteStore({ path: file, synchronous });
}

function splitScheme(address: string): [string, string] {
  const colon = address.indexOf(':');
  return colon < 0 ? ['', ''] : [address.slice(0, colon), address.slice(colon + 1)];
}
