/**
 * Wakes the workflows of relatives while code queues work to them item by item. A wake is a signal in the other
 * workflow's history and only asks it to read the store. So the first is sent at once, later ones at most every MIN_INTERVAL_MS,
 * and a pending one at the end.
 * G1. What was stored before a wake was requested is in the store when the wake is sent.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { WakePayload } from '../../workflows/messages.ts';

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

export function openWakeGate(send: Send): WakeGate {
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
      // G1: stored before it is sent.
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
