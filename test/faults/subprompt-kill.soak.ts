/** A worker dies in the instant in which its thread comes by, once for each place of a sub-prompt. */
import { describeSubpromptKill } from './subprompt-kill-points.ts';

describeSubpromptKill('each');
