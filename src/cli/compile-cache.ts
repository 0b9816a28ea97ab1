/**
 * Node keeps what it has compiled of our code and its packages, and needs half as long for the next start. In the user's own cache
 * folder: Node's default is one for all users of the machine, where somebody else could have left code behind.
 */
import { mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { userCacheFolder } from '../temporal-service/cache-folder.ts';

/** Holds for what is loaded from now on. `NODE_COMPILE_CACHE` names another folder, `NODE_DISABLE_COMPILE_CACHE=1` none. */
export function keepCompiled(): void {
  const folder = join(userCacheFolder(process.env), 'compiled');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    enableCompileCache(folder);
  } catch {
    // A home that cannot be written to: everything is compiled each time.
  }
}
