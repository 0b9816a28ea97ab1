/** A worker dies in the instant in which its thread comes by, once for each hand-over between a parent and its child. */
import { describeSubagentKill } from './subagent-kill-points.ts';

describeSubagentKill('each');
