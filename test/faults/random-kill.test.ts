/** A few threads while two workers die. `npm run test:soak -- random-kill` runs longer, with many threads. */
import { describeRandomKill } from './random-kill-ordeal.ts';

describeRandomKill({ threads: 6, steps: 4, seconds: 3, historySoftLimit: 50 });
