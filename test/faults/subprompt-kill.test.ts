/** Threads stand at every place of a sub-prompt as their worker is killed. `npm run test:soak -- subprompt-kill` kills one for each place. */
import { describeSubpromptKill } from './subprompt-kill-points.ts';

describeSubpromptKill('together');
