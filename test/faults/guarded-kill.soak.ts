/** The long form of `guarded-kill.test.ts`: every place. */
import { describeGuardedTurn, EACH_PLACE } from './guarded-kill-points.ts';

describeGuardedTurn(EACH_PLACE);
