/** A thousand messages, and six megabytes of them behind one step. */
import { describeQueueFlood } from './queue-flood.ts';

describeQueueFlood({ rounds: 4, each: 100, historySoftLimit: 200, waiting: 300 });
