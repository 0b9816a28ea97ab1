/**
 * Where work goes that code in an activity queues: messages into the store at once, tools along with the result, in one
 * transaction. The workflow is alive and hears of both by the activity's answer; what comes after it is told by itself.
 */
import type { WorkSink } from '../../state/work-sink.ts';
import type { QueuedTool } from '../../store/port/tool.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
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
  /** The activity answers. Code that goes on nevertheless, such as a body that does not heed its time, is still heard. */
  end(): void;
}

export interface SinkOptions {
  /** The code is part of an execution of the thread: what it queues goes on with the count of its steps. */
  readonly own: boolean;
  /** The code is that of this effect. */
  readonly effect?: string;
}

export function openSink(
  dependencies: Pick<ActivityDependencies, 'store' | 'probe'>,
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
  /** Once is enough while the activity lasts: no step drains the queue before its end. */
  const told = () => {
    if (ended) return relatives.tell(threadId);
    telling ??= relatives.tell(threadId);
    return telling;
  };
  return {
    work: {
      async queueMessage(item) {
        await store.queue.add(threadId, item, { own, effect });
        queuedItems += 1;
        // The thread may be at rest: it is told before this resolves, so what is said to it from now on comes behind. Where it cannot be,
        // the answer of the activity tells it.
        if (!own) await told();
        else if (ended) await relatives.reach(threadId).wake();
      },
      queueTool(tool) {
        if (ended) relatives.reach(threadId).queueTool(tool);
        else queuedTools.push(tool);
      },
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
    notifications: () => toMetadata(toldParent),
    taken: () => ({ queuedTools, queuedItems }),
    end() {
      ended = true;
    },
  };
}

/** The last of what the parent was told. */
function toMetadata(toldParent: readonly string[]): Readonly<Record<string, unknown>> {
  const shown = toldParent.slice(-NOTICES).map((content) => content.slice(0, NOTICE_CHARS));
  if (shown.length === 0) return {};
  return shown.length === 1 ? { parent_notification: shown[0] } : { parent_notifications: shown };
}
