/**
 * Threads are at every transfer between a parent and its child when their worker is killed.
 * `npm run test:soak -- subagent-kill` kills one worker per place.
 */
import { describeSubagentKill } from './subagent-kill-points.ts';

describeSubagentKill('together');
