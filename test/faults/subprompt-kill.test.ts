/**
 * Threads are at every place of a sub-prompt when their worker is killed. `npm run test:soak -- subprompt-kill` kills
 * one worker per place.
 */
import { describeSubpromptKill } from './subprompt-kill-points.ts';

describeSubpromptKill('together');
