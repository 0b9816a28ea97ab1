/**
 * Caches the compiled form of our code and its packages, which halves the start-up time. The cache is in the user's own
 * cache folder: Node's default is shared by all users of the machine, and another user could have placed code there.
 */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { makeFolders } from '../store/folder/private-files.ts';
import { userCacheFolder } from '../temporal-service/cache-folder.ts';

/** Applies to everything loaded from now on. `NODE_COMPILE_CACHE` names another folder, `NODE_DISABLE_COMPILE_CACHE=1` disables it. */
export function enableCodeCache(): void {
  const folder = join(userCacheFolder(process.env), 'compiled');
  try {
    makeFolders(folder, 0o700);
    enableCompileCache(folder);
  } catch {
    // The home is not writable: everything is compiled each time.
  }
}
