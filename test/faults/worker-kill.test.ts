/** Threads stand at every place of a step as their worker is killed. `npm run test:soak -- worker-kill` kills one for each place. */
import { describeWorkerKill } from './worker-kill-points.ts';

describeWorkerKill('together');
