/** The workflow bundle of these sources, built by whichever process of tests needs it first: it takes seconds, and does not change. */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflows } from '../../src/workflow-bundle.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const CACHE = join(ROOT, 'node_modules', '.cache', 'everthread-bundle');

export async function builtBundle(): Promise<string> {
  const path = join(CACHE, `${hashOfSources()}.js`);
  if (existsSync(path)) return readFileSync(path, 'utf8');
  const { code } = await bundleWorkflows();
  mkdirSync(CACHE, { recursive: true });
  // Another process may read it at any time: it is there as a whole or not at all.
  const draft = join(CACHE, randomUUID());
  writeFileSync(draft, code);
  renameSync(draft, path);
  return code;
}

/** Of all that a bundle is made of: our sources, where they are, and the versions of what bundles them and goes along. */
function hashOfSources(): string {
  const hash = createHash('sha256').update(`${ROOT} ${process.version}`);
  for (const path of ['package-lock.json', ...globSync('src/**/*.ts', { cwd: ROOT }).sort()])
    hash.update(`\0${path}\0`).update(readFileSync(join(ROOT, path)));
  return hash.digest('hex');
}
