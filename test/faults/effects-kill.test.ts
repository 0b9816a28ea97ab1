/** Sixty effects while two workers die. `npm run test:soak -- effects-kill` is the same with five hundred. */
import { describeEffectsKill } from './effects-ordeal.ts';

describeEffectsKill({ threads: 6, longestMs: 5000, removalMs: 0, leastStrikes: 2 });
