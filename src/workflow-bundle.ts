/** Loads the workflow code for the worker: prebuilt in the package; in a clone bundled from the sources, and cached. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BundleOptions, bundleWorkflowCode } from '@temporalio/worker';
import type { ThreadedVMWorkflowCreatorOptions } from '@temporalio/worker/lib/workflow/threaded-vm.js';
import { cacheFile } from './kept-file.ts';

export type LoadedBundle = ThreadedVMWorkflowCreatorOptions['workflowBundle'];

/**
 * The bundle as workflow threads take it. The SDK reads one so, too, and then compiles and runs it in this process for
 * debuggers of workflow code: a tenth of a worker's start, for code that is not its author's.
 */
export async function loadWorkflowBundle(codePath?: string): Promise<LoadedBundle> {
  const built = codePath ?? fileURLToPath(new URL('./thread.bundle.js', import.meta.url));
  if (existsSync(built)) return readBundle(readFileSync(built, 'utf8'), built);
  return readBundle((await cachedBundle()).code);
}

const MAP_MARK = '//# sourceMappingURL=data:application/json;';

/** Separates the source map, which the bundler has written inline. */
export function readBundle(code: string, path?: string): LoadedBundle {
  const encoded = code.slice(code.indexOf('base64,', code.lastIndexOf(MAP_MARK)) + 'base64,'.length);
  const sourceMap = JSON.parse(Buffer.from(encoded, 'base64').toString());
  return { code, sourceMap, filename: resolve(path ?? sourceMap.file) };
}

/**
 * The bundle of these sources, and of no other code of ours: cached by the first process that builds it; if nothing can
 * be cached, every process builds its own.
 */
export async function cachedBundle(): Promise<{ code: string }> {
  const sources = ['./workflows', './core', import.meta.url].map((place) =>
    fileURLToPath(new URL(place, import.meta.url)),
  );
  const { text } = await cacheFile(
    { folder: 'everthread-workflows', name: 'workflows', extension: '.js', sources },
    async () => (await bundleWorkflows()).code,
  );
  return { code: text };
}

/** Takes a few seconds. */
export async function bundleWorkflows(): Promise<{ code: string }> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const pathOf = (name: string) =>
    fileURLToPath(new URL(`./workflows/${name}.${extension}`, import.meta.url));
  // Module names are relative to the root: the bundle does not depend on the folder that a worker is started in.
  const root = fileURLToPath(new URL('..', import.meta.url));
  const [workflowsPath, interceptors, payloadConverterPath] = [
    pathOf('index'),
    pathOf('interceptors'),
    pathOf('payload-converter'),
  ];
  return bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: [interceptors],
    payloadConverterPath,
    // A module's functions and constants exist once in a context, and not once for each thread in it, of which they
    // were two thirds of the memory. Only code without mutable state may be shared (test/architecture).
    preloadModules: [workflowsPath, interceptors, payloadConverterPath],
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
    webpackConfigHook: (config) => keepPrivateFields({ ...config, context: root }),
  });
}

/**
 * The SDK compiles sources for ES2017, where every file with private fields contains helper functions that emulate
 * them. The packaged build keeps them as written, and so does this one.
 */
const keepPrivateFields: NonNullable<BundleOptions['webpackConfigHook']> = (config) => {
  for (const rule of config.module?.rules ?? []) {
    const { use } = rule as { readonly use?: { readonly options?: { readonly jsc?: { target: string } } } };
    if (use?.options?.jsc) use.options.jsc.target = 'es2022';
  }
  return config;
};
