/**
 * Wakes the workflows of relatives for what code queues to them one by one. A wake is a signal in the other one's history and says
 * only "look": so it is sent at once the first time, then no more often than every GAP_MS, and what is left of it at the end.
 * G1. What was stored before a wake was asked for is there when it is sent.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { WakePayload } from '../../workflows/messages.ts';

const GAP_MS = 50;

export interface WakeGate {
  /** Resolves at once: nobody waits for a signal. */
  wake(threadId: string, payload?: WakePayload): void;
  /** Sends what is left. Rejects with the first failure since it was asked last. */
  settle(): Promise<void>;
}

type Send = (threadId: string, payload: WakePayload) => Promise<void>;

interface Gate {
  /** Asked for, and not sent yet. */
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
      await delay(GAP_MS, undefined, { signal: gate.hurry.signal }).catch(() => undefined);
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
