/**
 * Resolves the imports of tests: the package's own names lead to its sources, and modules of `test` are loaded again
 * for each test file.
 */
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const urlOf = (...path) => pathToFileURL(join(ROOT, ...path)).href;

const NAMES = {
  everthread: urlOf('src', 'index.ts'),
  'everthread/client': urlOf('src', 'client', 'index.ts'),
  'everthread/models': urlOf('src', 'models', 'index.ts'),
  'everthread/worker': urlOf('src', 'worker', 'index.ts'),
  'everthread/server': urlOf('src', 'server', 'index.ts'),
  'everthread/agenticx': urlOf('src', 'faces', 'agenticx', 'index.ts'),
  'everthread/protolink': urlOf('src', 'faces', 'protolink', 'index.ts'),
  'everthread/tangle': urlOf('src', 'faces', 'tangle', 'index.ts'),
  'everthread/tangle/models': urlOf('src', 'faces', 'tangle', 'models.ts'),
  'everthread/tangle/worker': urlOf('src', 'faces', 'tangle', 'worker.ts'),
  'everthread/testing': urlOf('src', 'testing', 'index.ts'),
  '@standardagents/spec': urlOf('src', 'standard-agents.ts'),
  '@standardagents/builder': urlOf('src', 'standard-agents.ts'),
  // The real package refuses to be loaded outside of Jest's runner.
  '@jest/globals': urlOf('test', 'runner', 'globals.mjs'),
};
const TESTS = urlOf('test', '');
const KEPT = [urlOf('test', 'once', ''), urlOf('test', 'runner', 'globals.mjs')];

let file = 0;

/** Modules of `test` that are imported from now on are new instances, for the next file. */
export function nextFile() {
  file += 1;
}

export function resolveForTests(specifier, context, next) {
  const resolved = next(NAMES[specifier] ?? specifier, context);
  const { url } = resolved;
  if (!url.startsWith(TESTS) || url.includes('?') || KEPT.some((kept) => url.startsWith(kept)))
    return resolved;
  return { ...resolved, url: `${url}?file=${file}` };
}
