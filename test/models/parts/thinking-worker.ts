/** A worker process with the project of a model that thinks; it dies where it is ordered to. */
import { obey } from '../../support/fault-project.ts';
import { runWorkerProcess } from '../../support/run-worker-process.ts';
import { thinkingProject } from './thinking-project.ts';

await runWorkerProcess(
  () => thinkingProject(process.env.STRICT_URL as string),
  ({ folder }, point) => obey(folder, point),
);
