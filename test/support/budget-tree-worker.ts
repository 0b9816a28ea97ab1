/** A worker of the project in `budget-tree.ts`, in a separate process, for tests that kill it. */
import { treeRegistry } from './budget-tree.ts';
import { runWorkerProcess } from './run-worker-process.ts';

await runWorkerProcess(treeRegistry);
