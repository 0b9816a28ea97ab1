/** The workflow code as the worker loads it: built ahead in the package, bundled from the sources in a clone. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';

export async function loadWorkflowBundle(codePath?: string): Promise<WorkflowBundleOption> {
  const built = codePath ?? fileURLToPath(new URL('./thread.bundle.js', import.meta.url));
  return existsSync(built) ? { codePath: built } : bundleWorkflows();
}

/** About a second; tests do it once and hand the file around. */
export async function bundleWorkflows(): Promise<{ code: string }> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const pathOf = (name: string) =>
    fileURLToPath(new URL(`./workflows/${name}.${extension}`, import.meta.url));
  return bundleWorkflowCode({
    workflowsPath: pathOf('index'),
    workflowInterceptorModules: [pathOf('interceptors')],
    payloadConverterPath: pathOf('payload-converter'),
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  });
}
