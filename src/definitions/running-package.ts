/**
 * Resolves an author's `import … from 'everthread'`, and the packages of the standard, to this running copy, whatever
 * version the project has installed, if any.
 * Modules are passed in evaluated form and not as an alias to a path: jiti would compile the sources of the whole
 * package again for each load, and module state (a scripted model's script) would exist twice.
 */
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Entries that authors' files import, also with `require`, so they must be loaded in advance. */
const PRELOADED_ENTRIES = {
  everthread: '../index',
  'everthread/models': '../models/index',
  'everthread/tangle/models': '../tangle/models',
  'everthread/tangle/worker': '../tangle/worker',
  // Projects written for the standard load as they are (definitions §2.1).
  '@standardagents/spec': '../standard-agents',
  '@standardagents/builder': '../standard-agents',
};
/** Entries that load Temporal and are rare in authors' files: loaded on demand, by `import` alone. */
const LAZY_ENTRIES = {
  'everthread/client': '../client/index',
  'everthread/worker': '../worker/index',
  'everthread/server': '../server/index',
  'everthread/agenticx': '../agenticx/index',
  'everthread/protolink': '../protolink/index',
  'everthread/tangle': '../tangle/index',
  'everthread/testing': '../testing/index',
};

/** Maps each specifier to its module namespace, or to a promise of it. */
export async function runningPackage(): Promise<Record<string, unknown>> {
  const modules: Record<string, unknown> = {};
  for (const [specifier, url] of listExistingEntries(PRELOADED_ENTRIES))
    modules[specifier] = await import(url.href);
  for (const [specifier, url] of listExistingEntries(LAZY_ENTRIES)) {
    Object.defineProperty(modules, specifier, { enumerable: true, get: () => import(url.href) });
  }
  return modules;
}

/** Computes URLs instead of importing: `definitions` must not depend on the entries, it only passes them on. */
function listExistingEntries(doors: Readonly<Record<string, string>>): [string, URL][] {
  const extension = extname(fileURLToPath(import.meta.url));
  const found = Object.entries(doors).map(([specifier, path]): [string, URL] => [
    specifier,
    new URL(path + extension, import.meta.url),
  ]);
  return found.filter(([, url]) => existsSync(url));
}
