/** Workers and the database die again and again; `EVERTHREAD_FAULT_SECONDS` is for how long (default 20 and 12). */
import { describePostgresWorkers } from './postgres-ordeal.ts';

const seconds = (usual: number) => Number(process.env.EVERTHREAD_FAULT_SECONDS || usual);

describePostgresWorkers({
  workersDie: { threads: 40, steps: 10, seconds: seconds(20), historySoftLimit: 100 },
  databaseDies: { threads: 20, steps: 10, seconds: seconds(12), historySoftLimit: 100 },
});
