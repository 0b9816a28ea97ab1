/** A worker on the project of the tree, as a process of its own, for tests that kill it. */
import { treeRegistry } from './budget-tree.ts';
import { runWorkerProcess } from './run-worker-process.ts';

await runWorkerProcess(treeRegistry);
