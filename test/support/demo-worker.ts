/** A worker with the agents of this repository, which need no model, in a separate process, for tests that kill it. */
import { join } from 'node:path';
import { loadProject, requireSound } from '../../src/definitions/index.ts';
import { runWorkerProcess } from './run-worker-process.ts';

await runWorkerProcess(
  async () => requireSound(await loadProject(join(import.meta.dirname, '..', '..'))).registry,
);
