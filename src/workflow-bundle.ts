/** Loads the workflow code for the worker: prebuilt in the package; in a clone bundled from the sources, and cached. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type BundleOptions, bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';
import { cacheFile } from './kept-file.ts';

export async function loadWorkflowBundle(codePath?: string): Promise<WorkflowBundleOption> {
  const built = codePath ?? fileURLToPath(new URL('./thread.bundle.js', import.meta.url));
  return existsSync(built) ? { codePath: built } : cachedBundle();
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
  return bundleWorkflowCode({
    workflowsPath: pathOf('index'),
    workflowInterceptorModules: [pathOf('interceptors')],
    payloadConverterPath: pathOf('payload-converter'),
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
