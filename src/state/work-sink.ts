/** Where work goes that code queues by its ThreadState: a port, which activities and the server implement in their own ways. */
import type { MessageItem } from '../core/thread/item.ts';
import type { QueuedTool } from '../store/port/tool.ts';

export interface WorkSink {
  /** Resolves once it is stored. */
  queueMessage(item: MessageItem): Promise<void>;
  queueTool(tool: QueuedTool): void;
  terminate(): Promise<void>;
  /** An effect was scheduled: the next one of the thread is due in so many milliseconds. */
  wakeForEffects(inMs: number): Promise<void>;
  /** Something was put into the thread's queue by other means: its workflow is told to look. */
  wake(): Promise<void>;
  /** What the parent was told by `notifyParent`, as the records of this work show it. */
  noteTold(content: string): void;
  /** Where work for another thread of the family goes. */
  reach(threadId: string): WorkSink;
}
