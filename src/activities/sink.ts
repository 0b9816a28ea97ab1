/**
 * Where work goes that code in an activity queues: messages into the store at once, tools along with the result, in one
 * transaction. The workflow is alive and hears of both by the activity's answer.
 */
import type { WorkSink } from '../state/origin.ts';
import type { ThreadStore } from '../store/port.ts';
import type { QueuedTool } from '../store/tool-port.ts';
import { terminateSelf } from './cascade.ts';
import { openRelativeSinks } from './relative-sink.ts';

/** The parent has the whole of each. */
const NOTICES = 10;
const NOTICE_CHARS = 500;

export interface Sink {
  readonly work: WorkSink;
  /** For a child that this very work has made: see `RelativeSinks`. */
  reachUnstarted(threadId: string): WorkSink;
  /** Waits for what was queued to other threads of the family and could not be awaited. Rejects with the first failure. */
  settle(): Promise<void>;
  /** What `notifyParent` has said, for the metadata of a tool message. */
  notifications(): Readonly<Record<string, unknown>>;
  taken(): { readonly queuedTools: readonly QueuedTool[]; readonly queuedItems: number };
}

export function openSink(store: ThreadStore, threadId: string): Sink {
  const queuedTools: QueuedTool[] = [];
  const toldParent: string[] = [];
  let queuedItems = 0;
  const relatives = openRelativeSinks(store);
  return {
    work: {
      async queueMessage(item) {
        await store.queueItem(threadId, item);
        queuedItems += 1;
      },
      queueTool: (tool) => void queuedTools.push(tool),
      terminate: () => terminateSelf(store, threadId, 'state.terminate'),
      // Each activity's answer tells when the next one is due (activities/index.ts).
      wakeForEffects: async () => undefined,
      // What lies in the store is counted before the thread rests.
      wake: async () => undefined,
      noteTold: (content) => void toldParent.push(content),
      reach: relatives.reach,
    },
    reachUnstarted: relatives.reachUnstarted,
    settle: relatives.settle,
    notifications() {
      const shown = toldParent.slice(-NOTICES).map((content) => content.slice(0, NOTICE_CHARS));
      if (shown.length === 0) return {};
      return shown.length === 1 ? { parent_notification: shown[0] } : { parent_notifications: shown };
    },
    taken: () => ({ queuedTools, queuedItems }),
  };
}
