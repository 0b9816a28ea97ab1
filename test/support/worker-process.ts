/** A worker of the fault tests' project in a separate process, for tests that kill it. */
import { faultRegistry, obey } from './fault-project.ts';
import { runWorkerProcess } from './run-worker-process.ts';

await runWorkerProcess(faultRegistry, ({ folder }, point) => obey(folder, point));
