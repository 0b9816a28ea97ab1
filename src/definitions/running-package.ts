/**
 * What an author's `import … from 'everthread'` reaches: this running copy, whatever the project has installed,
 * and also when it has installed nothing.
 *
 * Modules are handed over ready made and not as an alias to a path: jiti would compile the sources of the whole
 * package again for each load, and what modules keep (a scripted model's script) would exist twice.
 */
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Doors that authors' files import, also with `require`, so they must be there at once. */
const READY = { everthread: '../index', 'everthread/models': '../models/index' };
/** Doors that pull in Temporal and are rare in authors' files: loaded when asked for, by `import` alone. */
const ON_DEMAND = {
  'everthread/worker': '../worker/index',
  'everthread/server': '../server/index',
  'everthread/testing': '../testing/index',
};

/** Specifier → module namespace, or a promise of it. */
export async function runningPackage(): Promise<Record<string, unknown>> {
  const modules: Record<string, unknown> = {};
  for (const [specifier, url] of existing(READY)) modules[specifier] = await import(url.href);
  for (const [specifier, url] of existing(ON_DEMAND)) {
    Object.defineProperty(modules, specifier, { enumerable: true, get: () => import(url.href) });
  }
  return modules;
}

/** Computed and not written as imports: `definitions` does not depend on the doors, it only hands them on. */
function existing(doors: Readonly<Record<string, string>>): [string, URL][] {
  const extension = extname(fileURLToPath(import.meta.url));
  const found = Object.entries(doors).map(([specifier, path]): [string, URL] => [
    specifier,
    new URL(path + extension, import.meta.url),
  ]);
  return found.filter(([, url]) => existsSync(url));
}
