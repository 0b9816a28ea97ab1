/**
 * Two deaths of a worker, two of the database. `npm run test:soak -- postgres-workers` runs longer, with many threads.
 */
import { describePostgresWorkers } from './postgres-ordeal.ts';

describePostgresWorkers({
  workersDie: { threads: 4, steps: 4, seconds: 3, historySoftLimit: 50 },
  databaseDies: { threads: 4, steps: 4, seconds: 3, historySoftLimit: 50 },
});
