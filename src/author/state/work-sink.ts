/** The sink for work that code queues through its ThreadState: a port that activities and the server implement. */
import type { MessageItem } from '../../core/thread/item.ts';
import type { QueuedTool } from '../../store/tool/tool-record.ts';

export interface WorkSink {
  /** Resolves once it is stored. */
  queueMessage(item: MessageItem): Promise<void>;
  queueTool(tool: QueuedTool): void;
  /** `by`: the call whose code terminates its own thread; its result stays its own. */
  terminate(by?: { readonly step: number; readonly index: number }): Promise<void>;
  /** Called after an effect was scheduled: the next effect of the thread is due in `inMs` milliseconds. */
  wakeForEffects(inMs: number): Promise<void>;
  /** Signals the thread's workflow to check the store: something was added to its queue by other means. */
  wake(): Promise<void>;
  /** Notes a message that `notifyParent` has sent, for the records of this work. */
  noteTold(content: string): void;
  /** Returns the sink for work of another thread of the family. */
  reach(threadId: string): WorkSink;
}
