/**
 * Feeds the events of runs to sinks. Whoever attaches a sink reads the events off the log: no run waits for a sink, and
 * nothing that a sink does affects a run.
 * - A sink receives events one at a time, in order. One that throws, or takes too long for an event, is notified and
 *   detached; the notification contains the cursor of the last event that it accepted.
 */
import { RuntimeError } from '../core/value/error.ts';
import type { Projected } from '../projections/projection.ts';
import type { RunEvent } from '../projections/run/run-event.ts';

export interface EventSink {
  emit(event: RunEvent): unknown;
  /** Called once the sink receives no more events. What this throws is ignored. */
  detached?(end: SinkEnd): unknown;
}

export interface SinkEnd {
  /** `over`: the events have ended, or the reading was aborted. */
  readonly why: 'over' | 'failed' | 'slow';
  /** Cursor of the last event that the sink accepted; null if there is none. */
  readonly cursor: string | null;
  readonly error?: unknown;
}

export interface AttachOptions {
  /** Milliseconds that the sink may take for one event; 5000 unless given. */
  readonly withinMs?: number | undefined;
}

/** Resolves once the sink is detached; never rejects because of the sink. */
export async function feedSink(
  events: AsyncIterable<Projected<RunEvent>>,
  sink: EventSink,
  { withinMs = 5000 }: AttachOptions = {},
): Promise<SinkEnd> {
  let cursor: string | null = null;
  let end: SinkEnd | undefined;
  for await (const row of events) {
    const failure = await emitToSink(sink, row.event, withinMs);
    if (failure) {
      end = { ...failure, cursor };
      break;
    }
    cursor = row.cursor;
  }
  const over = end ?? { why: 'over', cursor };
  // Notified; an error or a timeout of this call is ignored.
  await emitToSink({ emit: () => sink.detached?.(over) }, undefined as never, withinMs);
  return over;
}

async function emitToSink(
  sink: EventSink,
  event: RunEvent,
  withinMs: number,
): Promise<Omit<SinkEnd, 'cursor'> | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Omit<SinkEnd, 'cursor'>>((resolve) => {
    const error = new RuntimeError('Timeout', `A sink took longer than ${withinMs} ms for one event.`);
    timer = setTimeout(() => resolve({ why: 'slow', error }), withinMs);
  });
  const taken = (async () => {
    try {
      await sink.emit(event);
      return undefined;
    } catch (error) {
      return { why: 'failed', error } as const;
    }
  })();
  try {
    return await Promise.race([taken, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Keeps events in memory, for tests and small programs. An event without a sequence gets the next one.
 * @example
 * ```ts
 * const sink = new InMemoryEventSink();
 * await client.runs.attach(threadId, sink, { follow: false });
 * console.log(sink.toList().map(({ sequence, type }) => `${sequence} ${type}`));
 * ```
 */
export class InMemoryEventSink implements EventSink {
  #events: RunEvent[] = [];
  #next = 1;

  emit(event: RunEvent): void {
    const sequence = event.sequence ?? this.#next;
    this.#next = Math.max(this.#next, sequence + 1);
    this.#events.push({ ...event, sequence });
  }

  get events(): readonly RunEvent[] {
    return this.#events;
  }

  toList(): RunEvent[] {
    return [...this.#events];
  }

  /** Removes all events; the next sequence is 1 again. */
  clear(): void {
    this.#events = [];
    this.#next = 1;
  }
}
