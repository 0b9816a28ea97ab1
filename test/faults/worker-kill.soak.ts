/** A worker dies at the moment when its thread reaches a place, once for each place of a step. */
import { describeWorkerKill } from './worker-kill-points.ts';

describeWorkerKill('each');
