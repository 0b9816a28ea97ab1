/**
 * Sink for work that code in an activity queues to another thread of its family: it is put into that thread's queue in
 * the store, and the thread's workflow is woken.
 * - Work is queued in the order in which the code asked, even if the code did not wait.
 * - `queueTool` cannot be awaited: `settle` waits for it, before the activity's own work is stored.
 * - Queued work is stored before the code goes on. By then the wake of the other workflow is scheduled too
 *  ; if this worker is lost, whoever detects the loss sends it (`wake-relatives.ts`).
 *
 * A wake is a signal in the other workflow's history and only asks it to read the store. While code queues work item by
 * item, the first is sent at once, later ones at most every MIN_INTERVAL_MS, and a pending one at the end.
 * - What was stored before a wake was requested is in the store when the wake is sent.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import { openSerialQueue, type SerialQueue } from '../../author/guard/serial-queue.ts';
import type { WorkSink } from '../../author/state/work-sink.ts';
import { errorMessage, isRuntimeError, RuntimeError } from '../../core/value/error.ts';
import type { WakePayload } from '../../workflows/messages.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import { terminateRelative } from './cascade.ts';
import { openThreadSignals, type ThreadSignals } from './thread-signals.ts';

export interface RelativeSinks {
  reach(threadId: string): WorkSink;
  /** For a child that has not been started: its first run finds what is queued, so no wake is sent. */
  reachUnstarted(threadId: string): WorkSink;
  /** Resolves when the thread's workflow has been woken, or the signal has failed. */
  tell(threadId: string): Promise<void>;
  /** Waits for work that could not be awaited. Rejects with the first failure since the previous call. */
  settle(): Promise<void>;
}

type Ports = Pick<ActivityDependencies, 'store' | 'probe'>;

interface RelativeWork extends Ports {
  readonly self: string | undefined;
  /** Opened within the activity, since signals are made from its context. */
  readonly signals: () => ThreadSignals;
  readonly line: SerialQueue;
  readonly reach: (threadId: string) => WorkSink;
}

/**
 * `self`: the thread whose own execution the code belongs to. The code may reach that thread again through its
 * relatives.
 */
export function openRelativeSinks({ store, probe }: Ports, self?: string): RelativeSinks {
  let opened: ThreadSignals | undefined;
  const signals = () => {
    opened ??= openThreadSignals(store);
    return opened;
  };
  const line = openSerialQueue();
  // What is already stored is signalled however long the database is unreachable: nothing else would signal it.
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
        // A user message lets a stopped thread go on, whether it comes from a person or from a relative.
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

/** The error of a tool or an effect that has done its own work but could not queue something to another thread. */
export function toQueueError(error: unknown): RuntimeError {
  return new RuntimeError(
    isRuntimeError(error) ? error.code : 'InvalidMessage',
    `An item queued to another thread was not accepted: ${errorMessage(error)}`,
  );
}

const MIN_INTERVAL_MS = 50;

export interface WakeGate {
  /** Returns at once: signals are not awaited. */
  wake(threadId: string, payload?: WakePayload): void;
  /** Sends pending wakes. Rejects with the first failure since the previous call. */
  settle(): Promise<void>;
}

type Send = (threadId: string, payload: WakePayload) => Promise<void>;

interface Gate {
  /** A wake that was requested and is not sent yet. */
  wanted: WakePayload | undefined;
  busy: Promise<void> | undefined;
  readonly hurry: AbortController;
}

function openWakeGate(send: Send): WakeGate {
  let gates = new Map<string, Gate>();
  const failures: unknown[] = [];
  const run = async (threadId: string, gate: Gate): Promise<void> => {
    while (gate.wanted) {
      const payload = gate.wanted;
      gate.wanted = undefined;
      await send(threadId, payload).catch((error) => failures.push(error));
      await delay(MIN_INTERVAL_MS, undefined, { signal: gate.hurry.signal }).catch(() => undefined);
    }
    gate.busy = undefined;
  };
  return {
    wake(threadId, payload = {}) {
      const gate = gates.get(threadId) ?? {
        wanted: undefined,
        busy: undefined,
        hurry: new AbortController(),
      };
      gates.set(threadId, gate);
      // Stored before it is sent.
      gate.wanted = { ...gate.wanted, ...payload };
      gate.busy ??= run(threadId, gate);
    },
    async settle() {
      const open = [...gates.values()];
      gates = new Map();
      for (const { hurry } of open) hurry.abort();
      await Promise.all(open.map(({ busy }) => busy));
      const [first] = failures.splice(0);
      if (first !== undefined) throw first;
    },
  };
}
