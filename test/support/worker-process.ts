/** A worker on the fault tests' project as a process of its own, for tests that kill it. */
import { faultRegistry, obey } from './fault-project.ts';
import { runWorkerProcess } from './run-worker-process.ts';

await runWorkerProcess(faultRegistry, ({ folder }, point) => obey(folder, point));
