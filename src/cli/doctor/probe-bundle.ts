/**
 * Loads the doctor's workflow for its worker: prebuilt in the package, bundled in a clone, which takes some seconds.
 */
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';

const SILENT_LOGGER = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const PROBE_PATH = fileURLToPath(
  new URL(`./probe-workflow${extname(fileURLToPath(import.meta.url))}`, import.meta.url),
);

export async function loadProbeBundle(): Promise<WorkflowBundleOption> {
  const codePath = fileURLToPath(new URL('./probe.bundle.js', import.meta.url));
  return existsSync(codePath) ? { codePath } : { code: await bundleProbe() };
}

export async function bundleProbe(): Promise<string> {
  return (await bundleWorkflowCode({ workflowsPath: PROBE_PATH, logger: SILENT_LOGGER })).code;
}
