/** A worker of a newer build of the fault tests' project. */
import { faultRegistry } from './fault-project.ts';
import { runWorkerProcess } from './run-worker-process.ts';

await runWorkerProcess((order) => faultRegistry({ ...order, build: 'newer' }));
