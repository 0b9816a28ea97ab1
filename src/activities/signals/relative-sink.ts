/**
 * Where work goes that code in an activity queues to another thread of its family: into that thread's queue in the store, and
 * its workflow is told to look.
 * R1. In the order in which the code asked, also where it did not wait.
 * R2. `queueTool` cannot be awaited: `settle` waits for it, before the activity's own work is stored.
 * R3. What was queued is stored when the code goes on; that the other one looks is seen to by then as well (`wake-gate.ts`), or, where
 *     this worker is lost, by whoever finds that out (`wake-forgotten.ts`).
 */
import { errorMessage, isRuntimeError, RuntimeError } from '../../core/value/error.ts';
import { retryWhileUnavailable } from '../../state/retry-while-unavailable.ts';
import { openWorkLine, type WorkLine } from '../../state/work-line.ts';
import type { WorkSink } from '../../state/work-sink.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import { terminateRelative } from './cascade.ts';
import { openThreadSignals, type ThreadSignals } from './thread-signals.ts';
import { openWakeGate, type WakeGate } from './wake-gate.ts';

export interface RelativeSinks {
  reach(threadId: string): WorkSink;
  /** For a child that nobody has started: whoever starts it finds what is queued, and nobody is told. */
  reachUnstarted(threadId: string): WorkSink;
  /** Resolves when the thread's workflow has been told to look, or could not be. */
  tell(threadId: string): Promise<void>;
  /** Waits for what nobody could await. Rejects with the first failure since it was asked last. */
  settle(): Promise<void>;
}

type Ports = Pick<ActivityDependencies, 'store' | 'probe'>;

interface RelativeWork extends Ports {
  readonly self: string | undefined;
  /** Asked for within the activity, since they are made of its context. */
  readonly signals: () => ThreadSignals;
  readonly line: WorkLine;
  readonly reach: (threadId: string) => WorkSink;
}

/** `self`: the thread whose own execution the code belongs to. It may come back to it by way of its relatives. */
export function openRelativeSinks({ store, probe }: Ports, self?: string): RelativeSinks {
  let opened: ThreadSignals | undefined;
  const signals = () => {
    opened ??= openThreadSignals(store);
    return opened;
  };
  const line = openWorkLine();
  // R3. What is stored already is told however long the database is away: nobody else would tell of it.
  const gate = openWakeGate((threadId, payload) =>
    retryWhileUnavailable(abortSignal(), () => signals().wake(threadId, payload)),
  );
  const reach = (threadId: string) => openRelativeSink(work, threadId, gate.wake);
  const work: RelativeWork = { store, probe, self, signals, line, reach };
  return {
    reach,
    reachUnstarted: (threadId) => openRelativeSink(work, threadId, () => undefined),
    tell: (threadId) =>
      signals()
        .wake(threadId)
        .catch(() => undefined),
    async settle() {
      await line.reached();
      await gate.settle().catch(line.keepFailure);
      line.throwFailure();
    },
  };
}

function openRelativeSink(
  { store, probe, self, signals, line, reach }: RelativeWork,
  threadId: string,
  wake: WakeGate['wake'],
): WorkSink {
  const own = threadId === self;
  return {
    queueMessage: (item) =>
      line.add(async () => {
        await store.queue.add(threadId, item, { own });
        await probe?.('relative_told');
        // A person's word to a thread that was stopped lets it go on; so does a relative's.
        wake(threadId, item.role === 'user' ? { speaks: true } : {});
      }),
    queueTool: (tool) =>
      line.addUnawaited(async () => {
        await store.queue.add(threadId, { kind: 'tool', ...tool, origin: 'code' }, { own });
        wake(threadId);
      }),
    terminate: () =>
      line.add(() => terminateRelative(store, signals(), { threadId, reason: 'state.terminate' })),
    wakeForEffects: (inMs) => signals().wakeForEffects(threadId, inMs),
    wake: async () => wake(threadId),
    noteTold: () => undefined,
    reach,
  };
}

/** The error of a tool or an effect whose own work is done, but not what it queued to others. */
export function notTaken(error: unknown): RuntimeError {
  return new RuntimeError(
    isRuntimeError(error) ? error.code : 'InvalidMessage',
    `What was queued to another thread was not taken: ${errorMessage(error)}`,
  );
}
