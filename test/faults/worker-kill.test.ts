/**
 * Threads are at every place of a step when their worker is killed. `npm run test:soak -- worker-kill` kills one worker
 * per place.
 */
import { describeWorkerKill } from './worker-kill-points.ts';

describeWorkerKill('together');
