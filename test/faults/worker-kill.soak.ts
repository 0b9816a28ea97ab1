/** A worker dies in the instant in which its thread comes by, once for each place of a step. */
import { describeWorkerKill } from './worker-kill-points.ts';

describeWorkerKill('each');
