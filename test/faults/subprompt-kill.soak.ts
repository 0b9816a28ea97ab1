/** A worker dies at the moment when its thread reaches a place, once for each place of a sub-prompt. */
import { describeSubpromptKill } from './subprompt-kill-points.ts';

describeSubpromptKill('each');
