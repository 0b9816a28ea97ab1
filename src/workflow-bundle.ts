/** The workflow code as the worker loads it: prebuilt in the package, bundled from the sources in a clone, and kept there. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type BundleOptions, bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';
import { keepFile } from './kept-file.ts';

export async function loadWorkflowBundle(codePath?: string): Promise<WorkflowBundleOption> {
  const built = codePath ?? fileURLToPath(new URL('./thread.bundle.js', import.meta.url));
  return existsSync(built) ? { codePath: built } : keptBundle();
}

/** Of these sources: bundled by whoever needs it first; where nothing can be kept, by each. It holds nothing else of ours. */
export async function keptBundle(): Promise<{ code: string }> {
  const sources = ['./workflows', './core', import.meta.url].map((place) =>
    fileURLToPath(new URL(place, import.meta.url)),
  );
  const { text } = await keepFile(
    { folder: 'everthread-workflows', name: 'workflows', extension: '.js', sources },
    async () => (await bundleWorkflows()).code,
  );
  return { code: text };
}

/** Takes some seconds. */
export async function bundleWorkflows(): Promise<{ code: string }> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const pathOf = (name: string) =>
    fileURLToPath(new URL(`./workflows/${name}.${extension}`, import.meta.url));
  // Modules are named by their places below it: the bundle is the same whatever folder a worker is started in.
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
 * The SDK compiles sources for 2017, where every file with private fields carries functions that imitate them. The packaged
 * build has them as written, and so has this.
 */
const keepPrivateFields: NonNullable<BundleOptions['webpackConfigHook']> = (config) => {
  for (const rule of config.module?.rules ?? []) {
    const { use } = rule as { readonly use?: { readonly options?: { readonly jsc?: { target: string } } } };
    if (use?.options?.jsc) use.options.jsc.target = 'es2022';
  }
  return config;
};
