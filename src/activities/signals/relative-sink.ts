/**
 * Where work goes that code in an activity queues to another thread of its family: into that thread's queue in the store, and
 * its workflow is told to look.
 * R1. In the order in which the code asked, also where it did not wait.
 * R2. `queueTool` cannot be awaited: `settle` waits for it, before the activity's own work is stored.
 * R3. What was queued is stored when the code goes on; that the other one looks is seen to by then as well (`wake-gate.ts`), or, where
 *     this worker is lost, by whoever finds that out (`wake-forgotten.ts`).
 */
import { errorMessage, isRuntimeError, RuntimeError } from '../../core/error.ts';
import { retryWhileUnavailable } from '../../state/retry-while-unavailable.ts';
import type { WorkSink } from '../../state/work-sink.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import { terminateRelative } from './cascade.ts';
import { openThreadSignals, type ThreadSignals } from './thread-signals.ts';
import { openWakeGate } from './wake-gate.ts';

export interface RelativeSinks {
  reach(threadId: string): WorkSink;
  /** Of a child that nobody has started: whoever starts it finds what is queued, and nobody is told. */
  reachUnstarted(threadId: string): WorkSink;
  /** Waits for what nobody could await. Rejects with the first failure since it was asked last. */
  settle(): Promise<void>;
}

export function openRelativeSinks({
  store,
  probe,
}: Pick<ActivityDependencies, 'store' | 'probe'>): RelativeSinks {
  let opened: ThreadSignals | undefined;
  const toSignals = () => {
    opened ??= openThreadSignals(store);
    return opened;
  };
  let failures: unknown[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(act: () => Promise<T>): Promise<T> => {
    const done = last.then(act);
    last = done.catch(() => undefined);
    return done;
  };
  // R3. What is stored already is told however long the database is away: nobody else would tell of it.
  const gate = openWakeGate((threadId, payload) =>
    retryWhileUnavailable(abortSignal(), () => toSignals().wake(threadId, payload)),
  );
  const reachBy = (threadId: string, wake: typeof gate.wake): WorkSink => ({
    queueMessage: (item) =>
      inOrder(async () => {
        await store.queueItem(threadId, item);
        await probe?.('relative_told');
        // A person's word to a thread that was stopped lets it go on; so does a relative's.
        wake(threadId, item.role === 'user' ? { speaks: true } : {});
      }),
    queueTool(tool) {
      inOrder(async () => {
        await store.queueItem(threadId, { kind: 'tool', ...tool, origin: 'code' });
        wake(threadId);
      }).catch((error) => failures.push(error));
    },
    terminate: () =>
      inOrder(() => terminateRelative(store, toSignals(), { threadId, reason: 'state.terminate' })),
    wakeForEffects: (inMs) => toSignals().wakeForEffects(threadId, inMs),
    wake: async () => wake(threadId),
    noteTold: () => undefined,
    reach,
  });
  const reach = (threadId: string) => reachBy(threadId, gate.wake);
  return {
    reach,
    reachUnstarted: (threadId) => reachBy(threadId, () => undefined),
    async settle() {
      await last;
      await gate.settle().catch((error) => failures.push(error));
      const [first] = failures;
      failures = [];
      if (first !== undefined) throw first;
    },
  };
}

/** Of a tool or an effect: what it did is done, and what it could not queue is told. */
export function notTaken(error: unknown): RuntimeError {
  return new RuntimeError(
    isRuntimeError(error) ? error.code : 'InvalidMessage',
    `What was queued to another thread was not taken: ${errorMessage(error)}`,
  );
}
