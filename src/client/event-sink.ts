/**
 * Those who watch a run. A sink is given events that are read off the log, by whoever attaches it: nothing of a run waits for it, and
 * nothing that it does reaches one.
 * S1. Events come one after another, in order. A sink that throws, or is too slow with one, is told and detached; where it left off
 *     is in what it is told.
 */
import { RuntimeError } from '../core/value/error.ts';
import type { Projected } from '../projections/projection.ts';
import type { RunEvent } from '../projections/run/run-event.ts';

export interface EventSink {
  emit(event: RunEvent): unknown;
  /** It gets no more events. What this throws is ignored. */
  detached?(end: SinkEnd): unknown;
}

export interface SinkEnd {
  /** `over`: there is nothing more to come, or nobody wants it. */
  readonly why: 'over' | 'failed' | 'slow';
  /** Of the last event that it has taken. */
  readonly cursor: string | null;
  readonly error?: unknown;
}

export interface AttachOptions {
  /** Milliseconds that it may take for one event; 5000 unless given. */
  readonly withinMs?: number | undefined;
}

/** Resolves once the sink is detached; never rejects for what a sink does. */
export async function feedSink(
  events: AsyncIterable<Projected<RunEvent>>,
  sink: EventSink,
  { withinMs = 5000 }: AttachOptions = {},
): Promise<SinkEnd> {
  let cursor: string | null = null;
  let end: SinkEnd | undefined;
  for await (const told of events) {
    const failure = await offer(sink, told.event, withinMs);
    if (failure) {
      end = { ...failure, cursor };
      break;
    }
    cursor = told.cursor;
  }
  const over = end ?? { why: 'over', cursor };
  // S1: told, whatever it makes of it.
  await offer({ emit: () => sink.detached?.(over) }, undefined as never, withinMs);
  return over;
}

async function offer(
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
 * Keeps events, for tests and small programs. One without a sequence gets the next one.
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

  /** The next sequence is 1 again. */
  clear(): void {
    this.#events = [];
    this.#next = 1;
  }
}
