/**
 * A worker dies at the moment when its thread reaches a place, once for each transfer between a parent and its child.
 */
import { describeSubagentKill } from './subagent-kill-points.ts';

describeSubagentKill('each');
