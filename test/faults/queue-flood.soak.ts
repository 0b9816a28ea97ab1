/** The long form: a thousand messages, and six megabytes of messages queued during one step. */
import { describeQueueFlood } from './queue-flood.ts';

describeQueueFlood({ rounds: 4, each: 100, historySoftLimit: 200, waiting: 300 });
