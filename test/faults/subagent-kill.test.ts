/**
 * Threads stand at every hand-over between a parent and its child as their worker is killed. `npm run test:soak -- subagent-kill`
 * kills one for each place.
 */
import { describeSubagentKill } from './subagent-kill-points.ts';

describeSubagentKill('together');
