/**
 * Evaluates authors' files with jiti: TypeScript with enums, imports without extensions, tsconfig paths, CommonJS
 * and ES modules, independent of the project's package.json.
 * I1. Each loader evaluates every file once and reuses nothing from other loaders. So helpers that several definitions
 *     import are shared within one load, and the next load has no stale modules.
 * I2. A file that failed is removed from the cache. So the next file that imports it fails with the same cause and does
 *     not get a half-evaluated module.
 * Not covered: helpers in plain JavaScript that Node itself imports (`.mjs`, `.js` of a `"type": "module"`
 * project, CommonJS `.js` reached by `import`) are cached by Node for the life of the process.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { createJiti, type ModuleCache } from 'jiti';
import { runningPackage } from './running-package.ts';

export interface ModuleLoader {
  /** Returns the exports of a file; rejects if the file fails. Call it for one file at a time: files share modules. */
  load(file: string): Promise<Readonly<Record<string, unknown>>>;
  /** Absolute paths of all files evaluated so far. */
  files(): string[];
}

export interface LoaderOptions {
  /** Also clears Node's cache of the project's own CommonJS files. */
  readonly fresh?: boolean;
}

/** Rejects when the project's tsconfig.json cannot be read. */
export async function createModuleLoader(projectDir: string, options: LoaderOptions): Promise<ModuleLoader> {
  const base = join(projectDir, '_project.js');
  if (options.fresh === true) forgetRequired(base, projectDir);
  const virtualModules = await runningPackage();
  // Node's own cache would outlive the loader; `modules` below replaces it.
  const jiti = createJiti(base, { moduleCache: false, tsconfigPaths: true, virtualModules });
  const modules: ModuleCache = {};
  const seen = new Set<string>();
  return { load, files: () => [...seen] };

  async function load(file: string): Promise<Readonly<Record<string, unknown>>> {
    const known = modules[file];
    if (known?.loaded === true) return known.exports as Readonly<Record<string, unknown>>;
    const source = readFileSync(file, 'utf8');
    try {
      // Compiled even if Node could import it natively: only then do reloads and imports of `everthread` work.
      const evaluation = { filename: file, id: file, async: true, forceTranspile: true, cache: modules };
      return (await jiti.evalModule(source, evaluation)) as Readonly<Record<string, unknown>>;
    } finally {
      for (const path of Object.keys(modules)) seen.add(path);
      forgetUnfinished(modules);
    }
  }
}

function forgetUnfinished(modules: ModuleCache): void {
  for (const [path, module] of Object.entries(modules)) {
    if (!module.loaded) delete modules[path];
  }
}

function forgetRequired(base: string, projectDir: string): void {
  const { cache } = createRequire(base);
  for (const path of Object.keys(cache)) {
    const isOwn = path.startsWith(projectDir + sep) && !path.includes(`${sep}node_modules${sep}`);
    if (isOwn) delete cache[path];
  }
}
