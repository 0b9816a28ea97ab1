/** Some hundreds of messages, with runs of a few dozen events. `npm run test:soak -- queue-flood` has more. */
import { describeQueueFlood } from './queue-flood.ts';

describeQueueFlood({ rounds: 2, each: 30, historySoftLimit: 50, waiting: 60 });
