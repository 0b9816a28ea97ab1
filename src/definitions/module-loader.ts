/**
 * Evaluates authors' files with jiti: TypeScript with enums, imports without extensions, tsconfig paths, CommonJS
 * and ES modules, independent of the project's package.json.
 * - Each loader evaluates every file once and reuses nothing from other loaders. So helpers that several definitions
 *   import are shared within one load, and the next load has no stale modules.
 * - A file that failed is removed from the cache. So the next file that imports it fails with the same cause and does
 *   not get a half-evaluated module.
 * - JavaScript and JSON that Node itself loads for the project is cached by Node for the life of the process. So a
 *   fresh load imports it by addresses of its own. Not covered: an ES module that a CommonJS file requires.
 */
import { existsSync, readFileSync } from 'node:fs';
// By its default: a client over HTTP imports this file too, on Node 20, which has no `registerHooks`.
import nodeModule, { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, extname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createJiti, type ModuleCache } from 'jiti';
import { isRecord } from '../core/value/record.ts';
import { type GuardedLoad, guardLoad, NeverLoadedError } from './guarded-load.ts';
import { findMissing } from './load-failure.ts';
import { checkImports, strictCompiler } from './strict-compiler.ts';

type Exports = Readonly<Record<string, unknown>>;

export interface ModuleLoader {
  /** Returns the exports of a file; rejects if the file fails. Call it for one file at a time: files share modules. */
  load(file: string): Promise<GuardedLoad<Exports>>;
  /** Absolute paths of all files read so far, and of those that were imported and do not exist. */
  files(): string[];
}

const FILE_TIMEOUT_MS = 30_000;
/** For the files behind one that never loaded. */
const REPEATED_TIMEOUT_MS = 1_000;

export interface LoaderOptions {
  /** Milliseconds after which a file that is still loading is given up; 30,000 if absent. */
  readonly fileTimeoutMs?: number;
  /** Gives up the load, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Also reads again what Node itself loaded for the project. */
  readonly fresh?: boolean;
}

/** Rejects when the project's tsconfig.json cannot be read. */
export async function createModuleLoader(projectDir: string, options: LoaderOptions): Promise<ModuleLoader> {
  const base = join(projectDir, '_project.js');
  const { cache } = createRequire(base);
  if (options.fresh === true) forgetRequired(cache, projectDir);
  const native = watchNative(options.fresh === true);
  const virtualModules = await runningPackage();
  // Node's own cache would outlive the loader; `modules` below replaces it.
  const jiti = createJiti(base, {
    moduleCache: false,
    tsconfigPaths: true,
    jsx: true,
    virtualModules,
    // A folder apart: what jiti has compiled for others was not compiled strictly.
    fsCache: compiledFolder(projectDir),
    transformOptions: { babel: { plugins: [strictCompiler] } },
  });
  freeSchemaIds(await jiti.import('zod').catch(() => undefined));
  for (const [path, module] of Object.entries(cache))
    if (ZOD_REGISTRY.test(path)) freeSchemaIds(module?.exports);
  const modules: ModuleCache = {};
  const seen = new Set<string>();
  const checked = new Set<string>();
  let patience = options.fileTimeoutMs ?? FILE_TIMEOUT_MS;
  return { load, files: () => [...new Set([...seen, ...native])] };

  async function load(file: string): Promise<GuardedLoad<Exports>> {
    const known = modules[file];
    if (known?.loaded === true) return { value: known.exports as Exports, open: [] };
    const source = readFileSync(file, 'utf8');
    try {
      // Compiled even if Node could import it natively: only then do reloads and imports of `everthread` work.
      const evaluation = { filename: file, id: file, async: true, forceTranspile: true, cache: modules };
      const evaluate = async () => {
        try {
          return (await jiti.evalModule(source, evaluation)) as Exports;
        } finally {
          // Also if the file failed: a missing name is what the failure is due to.
          checkImports(modules, checked);
        }
      };
      const limits = { fileTimeoutMs: patience, signal: options.signal };
      return await guardLoad(relative(projectDir, file), evaluate, limits);
    } catch (error) {
      // The next files may import the same module that never comes.
      if (error instanceof NeverLoadedError) patience = Math.min(patience, REPEATED_TIMEOUT_MS);
      const missing = findMissing(file, error);
      if (missing !== undefined && !missing.isPackage)
        seen.add(resolve(dirname(missing.importer), missing.name));
      throw error;
    } finally {
      for (const path of Object.keys(modules)) seen.add(path);
      forgetUnfinished(modules);
    }
  }
}

function compiledFolder(projectDir: string): string {
  const installed = join(projectDir, 'node_modules');
  return existsSync(installed)
    ? join(installed, '.cache', 'everthread-2')
    : join(tmpdir(), 'everthread-modules-2');
}

function forgetUnfinished(modules: ModuleCache): void {
  for (const [path, module] of Object.entries(modules)) {
    if (!module.loaded) delete modules[path];
  }
}

function forgetRequired(cache: NodeJS.Dict<NodeModule>, projectDir: string): void {
  for (const path of Object.keys(cache)) {
    const isOwn = path.startsWith(projectDir + sep) && !path.includes(`${sep}node_modules${sep}`);
    if (isOwn) delete cache[path];
  }
}

/** The registry of a copy of zod that a CommonJS file of the project has required. */
const ZOD_REGISTRY = /[\\/]zod[\\/]v4[\\/]core[\\/]registries\.cjs$/;

interface SchemaRegistry {
  readonly _idmap: Map<unknown, unknown>;
  add(schema: unknown, meta?: unknown): unknown;
}

/**
 * Lets a schema take over the id of another in the registry of a copy of zod, as zod does from 4.3 on. The registry lives
 * as long as the process, and zod before 4.3 refuses the ids of an earlier load, or of a file that is evaluated again.
 */
function freeSchemaIds(zod: unknown): void {
  const registry = (zod as { globalRegistry?: SchemaRegistry } | undefined)?.globalRegistry;
  if (!(registry?._idmap instanceof Map) || Object.hasOwn(registry, 'add')) return;
  const { add } = registry;
  registry.add = (schema, meta) => {
    if (isRecord(meta)) registry._idmap.delete(meta.id);
    return add.call(registry, schema, meta);
  };
}

/** Matches addresses of the module that imports on behalf of what jiti has compiled. */
const JITI = /\/node_modules\/jiti\//;
/** Fresh loads of this process so far. */
let freshLoads = 0;
/** Paths of what Node has loaded for the newest loader, by itself. */
let nativeFiles: Set<string> | undefined;

/** Returns the paths of what Node loads by itself for the project from now on; the set grows. */
function watchNative(fresh: boolean): ReadonlySet<string> {
  if (fresh) freshLoads += 1;
  if (nativeFiles === undefined) hookNative();
  nativeFiles = new Set();
  return nativeFiles;
}

/** Each fresh load imports under a query of its own: Node caches by address. `import.meta.dirname` stays as it is. */
function hookNative(): void {
  const importers = new Set<string>();
  nodeModule.registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const { parentURL = '', conditions } = context;
      const isRequired = conditions.includes('require');
      const isAsked = isRequired || JITI.test(parentURL) || importers.has(parentURL);
      if (!isAsked || !found.url.startsWith('file:') || found.url.includes('/node_modules/')) return found;
      nativeFiles?.add(fileURLToPath(found.url));
      if (isRequired) return found;
      const url = freshLoads === 0 ? found.url : `${found.url}?everthread=${freshLoads}`;
      importers.add(url);
      return { ...found, url };
    },
  });
}

/** Entries that authors' files import, also with `require`, so they must be loaded in advance. */
const PRELOADED_ENTRIES = {
  everthread: '../index',
  'everthread/models': '../models/index',
  'everthread/otel': '../otel',
  'everthread/tangle/models': '../faces/tangle/models',
  'everthread/tangle/worker': '../faces/tangle/worker',
  // Projects written for the standard load as they are (definitions §2.1).
  '@standardagents/spec': '../standard-agents',
  '@standardagents/builder': '../standard-agents',
};
/** Entries that load Temporal and are rare in authors' files: loaded on demand, by `import` alone. */
const LAZY_ENTRIES = {
  'everthread/client': '../client/index',
  'everthread/worker': '../worker/index',
  'everthread/server': '../server/index',
  'everthread/agenticx': '../faces/agenticx/index',
  'everthread/protolink': '../faces/protolink/index',
  'everthread/tangle': '../faces/tangle/index',
  'everthread/testing': '../testing/index',
};

/**
 * Resolves an author's `import … from 'everthread'`, and the packages of the standard, to this running copy, whatever
 * version the project has installed, if any. Modules are passed in evaluated form and not as an alias to a path: jiti
 * would compile the sources of the whole package again for each load, and module state (a scripted model's script)
 * would exist twice. Maps each specifier to its module namespace, or to a promise of it.
 */
async function runningPackage(): Promise<Record<string, unknown>> {
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
