/** The long form: five hundred effects on fifty threads while workers die for half a minute. */
import { describeEffectsKill } from './effects-ordeal.ts';

describeEffectsKill({ threads: 50, longestMs: 30_000, removalMs: 10_000, leastStrikes: 6 });
