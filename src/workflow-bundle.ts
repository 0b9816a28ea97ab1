/**
 * The workflow code as the worker loads it: prebuilt in the package, bundled from the sources in a clone, and cached there.
 * B1. A cached bundle belongs to exactly these sources and dependencies: its name is a hash of them.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BundleOptions, bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';

export async function loadWorkflowBundle(codePath?: string): Promise<WorkflowBundleOption> {
  const built = codePath ?? fileURLToPath(new URL('./thread.bundle.js', import.meta.url));
  return existsSync(built) ? { codePath: built } : keptBundle();
}

/** Of these sources: bundled by whoever needs it first. */
export async function keptBundle(): Promise<{ code: string }> {
  const sources = fileURLToPath(new URL('.', import.meta.url));
  const modules = join(sources, '..', 'node_modules');
  const folder = join(modules, '.cache', 'everthread-workflows');
  // B1: the name of the bundle.
  const name = `${hashOf(sources, join(modules, '.package-lock.json'))}.js`;
  try {
    return { code: readFileSync(join(folder, name), 'utf8') };
  } catch {
    const bundle = await bundleWorkflows();
    keep(folder, name, bundle.code);
    return bundle;
  }
}

function hashOf(sources: string, lockFile: string): string {
  const hash = createHash('sha256').update(sources).update(readFileSync(lockFile));
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .sort();
  for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(join(sources, file)));
  return hash.digest('hex');
}

/** Written completely or not at all; a folder that is not writable costs the time of bundling. */
function keep(folder: string, name: string, code: string): void {
  const unfinished = join(folder, `${name}.${process.pid}`);
  try {
    mkdirSync(folder, { recursive: true });
    // Another process may have made this one meanwhile.
    const before = readdirSync(folder).filter((file) => file.endsWith('.js') && file !== name);
    writeFileSync(unfinished, code);
    renameSync(unfinished, join(folder, name));
    for (const file of before) rmSync(join(folder, file), { force: true });
  } catch {
    rmSync(unfinished, { force: true });
  }
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
