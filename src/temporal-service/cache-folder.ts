/** Where installed Temporal programs are kept: the user's cache folder, which all projects and clones share. */
import { homedir } from 'node:os';
import { join } from 'node:path';

export function userCacheFolder(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): string {
  return join(cacheBase(env, platform), 'everthread');
}

function cacheBase(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  if (env.XDG_CACHE_HOME) return env.XDG_CACHE_HOME;
  const home = env.HOME ?? homedir();
  if (platform === 'win32') return env.LOCALAPPDATA ?? join(home, 'AppData', 'Local');
  return platform === 'darwin' ? join(home, 'Library', 'Caches') : join(home, '.cache');
}
