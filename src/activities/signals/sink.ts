/**
 * Sink for work that code in an activity queues to its own thread: messages go into the store at once, tools are stored
 * along with the result, in one transaction. The running workflow learns of both from the activity's result; work that
 * is queued after the result is signalled separately.
 */
import type { WorkSink } from '../../author/state/work-sink.ts';
import type { QueuedTool } from '../../store/tool/tool-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { terminateSelf } from './cascade.ts';
import { openRelativeSinks } from './relative-sink.ts';

/** Limits for the metadata of a tool message. The parent receives each notification in full. */
const MAX_NOTICES = 10;
const MAX_NOTICE_CHARS = 500;

export interface Sink {
  readonly work: WorkSink;
  /** For a child that this work has just made: see `RelativeSinks`. */
  reachUnstarted(threadId: string): WorkSink;
  /** Waits for work queued to other threads of the family that could not be awaited. Rejects with the first failure. */
  settle(): Promise<void>;
  /** The texts sent by `notifyParent`, for the metadata of a tool message. */
  notifications(): Readonly<Record<string, unknown>>;
  taken(): { readonly queuedTools: readonly QueuedTool[]; readonly queuedItems: number };
  /**
   * Called when the activity returns. Work that code queues later, such as a body that ignores its time-out, still
   * reaches the thread.
   */
  end(): void;
}

export interface SinkOptions {
  /** True if the code is part of an execution of the thread: what it queues continues that execution's step count. */
  readonly own: boolean;
  /** The id of the effect that the code belongs to. */
  readonly effect?: string;
}

export function openSink(
  dependencies: ActivityDependencies,
  threadId: string,
  { own, effect }: SinkOptions,
): Sink {
  const { store } = dependencies;
  const queuedTools: QueuedTool[] = [];
  const toldParent: string[] = [];
  let queuedItems = 0;
  let ended = false;
  const relatives = openRelativeSinks(dependencies, own ? threadId : undefined);
  let telling: Promise<void> | undefined;
  /** One wake is enough while the activity runs: no step drains the queue before it ends. */
  const signalRelatives = () => {
    if (ended) return relatives.tell(threadId);
    telling ??= relatives.tell(threadId);
    return telling;
  };
  return {
    work: {
      async queueMessage(item) {
        await store.queue.add(threadId, item, { own, effect });
        queuedItems += 1;
        // The thread may be at rest: it is woken before this resolves, so that later messages queue behind this one. If
        // the signal fails, the activity's result informs the workflow.
        if (!own) await signalRelatives();
        else if (ended) await relatives.reach(threadId).wake();
      },
      queueTool(tool) {
        if (ended) relatives.reach(threadId).queueTool(tool);
        else queuedTools.push(tool);
      },
      terminate: (by) => terminateSelf(store, threadId, { reason: 'state.terminate', by }),
      // Each activity's result says when the next effect is due (activities/index.ts).
      wakeForEffects: async () => undefined,
      // Items in the store are counted before the thread rests.
      wake: async () => undefined,
      noteTold: (content) => void toldParent.push(content),
      reach: relatives.reach,
    },
    reachUnstarted: relatives.reachUnstarted,
    settle: relatives.settle,
    notifications: () => toMetadata(toldParent),
    taken: () => ({ queuedTools, queuedItems }),
    end() {
      ended = true;
    },
  };
}

/** The newest notifications to the parent, each cut to MAX_NOTICE_CHARS. */
function toMetadata(toldParent: readonly string[]): Readonly<Record<string, unknown>> {
  const shown = toldParent.slice(-MAX_NOTICES).map((content) => content.slice(0, MAX_NOTICE_CHARS));
  if (shown.length === 0) return {};
  return shown.length === 1 ? { parent_notification: shown[0] } : { parent_notifications: shown };
}
