/**
 * Gives out the logs of threads as spans, if an OpenTelemetry SDK is registered when the worker is created. Otherwise
 * nothing listens, and nothing is read or written.
 * - The process that writes a row that may end a span reads the thread's log from where it was given out. Maintenance
 *   does so for what a lost worker left.
 * - How far a log was given out is stored once the SDK has flushed, or has failed to: a process that dies before leaves
 *   the spans to the next one, which gives the same ids and times. So each span is given out at least once, unless the
 *   SDK itself drops it.
 * - Neither waits for the other: a step for the SDK, or memory for an exporter that hangs. What the bounded sets cannot
 *   hold is left to maintenance.
 */
import { context, type ProxyTracerProvider, trace } from '@opentelemetry/api';
import { withinTime } from '../../author/guard/within-time.ts';
import type { Registry } from '../../core/author/registry.ts';
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import type { InSpan, LoggedSpan, TracedWork } from '../../core/event/traced-row.ts';
import { type CallerLogs, completeRow } from '../../projections/trace/caller-trace.ts';
import {
  ENDING_KINDS,
  projectSpans,
  spanOf,
  type TraceProject,
} from '../../projections/trace/trace-projection.ts';
import {
  bodyKey,
  type OpenExecution,
  requestKey,
  type SpanPlace,
  type TraceSpan,
  type TraceState,
  toSpanId,
  toTraceId,
} from '../../projections/trace/trace-state.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { TraceCursor } from '../../store/trace/trace-record.ts';
import { createContentReader, type ReadContent } from './span-content.ts';
import { createSpanSender, type SpanSender } from './span-sender.ts';

/** The most threads that wait, and the most whose place is not stored yet, or is known to the log. */
const MAX_THREADS = 1_000;
const FLUSH_AFTER_MS = 1_000;
const FLUSH_WITHIN_MS = 10_000;
/** At the end of the worker. */
const CLOSE_WITHIN_MS = 2_000;

export interface Telemetry {
  /** Gives out what was left by workers that were lost this long ago. */
  catchUp(olderThanMs: number): Promise<void>;
  /** Runs work while its span is the active one: a span that it begins, and a request that it sends, has it as its parent. */
  readonly inSpan: InSpan;
  /** For the log: undefined if the thread's work is not known here. Reads nothing. */
  readonly spanOf: (threadId: string, of: ThreadEvent | TracedWork) => LoggedSpan | undefined;
  /** From now on, flushes at once: the process may end any moment. */
  hurry(): void;
  /** Gives out what waits, flushes for at most two seconds, and listens no more. */
  close(): Promise<void>;
}

/** `dropped`: the SDK could not export them, or not in time. */
export type SpanCounter = (outcome: 'exported' | 'dropped', count: number) => void;

export interface TelemetryOptions {
  readonly store: Pick<ThreadStore, 'events' | 'traces' | 'messages' | 'modelCalls'>;
  readonly registry: () => Registry;
  /** `execution`: one trace for each, however long it takes. */
  readonly traces?: 'parts' | 'execution';
  readonly onWarning?: ((warning: string) => void) | undefined;
  readonly countSpans?: SpanCounter;
}

/** What the API does not declare, and SDKs have. */
interface Provider {
  forceFlush?(): Promise<void>;
}

/** The SDK's provider; undefined if none is registered in this process. */
export function findProvider(): Provider | undefined {
  const found = trace.getTracerProvider() as Partial<ProxyTracerProvider>;
  // By its shape: the API may be in the process twice, and the copies share what is registered.
  const provider = found.getDelegate?.() ?? found;
  return provider.constructor.name === 'NoopTracerProvider' ? undefined : (provider as Provider);
}

/** Undefined if no SDK is registered. */
export function openTelemetry(options: TelemetryOptions): Telemetry | undefined {
  const provider = findProvider();
  return provider && new LogTelemetry(provider, options);
}

class LogTelemetry implements Telemetry {
  readonly #provider: Provider;
  readonly #store: TelemetryOptions['store'];
  readonly #sender: SpanSender;
  readonly #project: TraceProject;
  readonly #callers: CallerLogs;
  readonly #readContent: ReadContent | undefined;
  readonly #unlisten: () => void;
  readonly #countSpans: SpanCounter | undefined;
  /** Spans that were given to the SDK since its last flush. */
  #given = 0;
  readonly #waiting = new Set<string>();
  /** Where each log is, until that is stored. */
  readonly #places = new Map<string, TraceCursor>();
  /** Executions of the threads that were read last. */
  readonly #running = new Map<string, OpenExecution>();
  /** Readings of logs, one after the other for each thread. */
  readonly #readings = new Map<string, Promise<TraceState>>();
  #flushAfterMs = FLUSH_AFTER_MS;
  #working: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;

  constructor(
    provider: Provider,
    { store, registry, traces = 'parts', onWarning, countSpans }: TelemetryOptions,
  ) {
    const { OTEL_SEMCONV_STABILITY_OPT_IN: optIn = '' } = process.env;
    const { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: capture } = process.env;
    this.#readContent = createContentReader(store, capture);
    this.#provider = provider;
    this.#countSpans = countSpans;
    this.#store = store;
    this.#callers = { parts: traces === 'parts', read: store.traces.read };
    this.#project = {
      factoryOf: (model) => registry().models.get(model)?.provider.name,
      isMcp: (tool) => registry().tools.get(tool)?.remote !== undefined,
    };
    this.#sender = createSpanSender({
      formerNames: optIn.split(',').some((each) => each.trim() === 'gen_ai/dup'),
      ...(onWarning ? { onForeignIds: onWarning } : {}),
    });
    this.#unlisten = store.events.listen({
      kinds: ENDING_KINDS,
      told: ({ threadId }) => this.#note(threadId),
    });
  }

  async catchUp(olderThanMs: number): Promise<void> {
    for (const threadId of await this.#store.traces.list(olderThanMs)) this.#note(threadId);
    await this.#working;
  }

  readonly inSpan: InSpan = async (work, run) => {
    // The work matters more than its span.
    const place = await this.#findSpan(work).catch(() => undefined);
    return place ? context.with(this.#sender.contextOf(place), run) : run();
  };

  readonly spanOf: Telemetry['spanOf'] = (threadId, of) => {
    const run = this.#running.get(threadId);
    if (!run) return undefined;
    const key = 'type' in of ? spanOf(run, of).key : keyOf(run, of);
    return { trace_id: toTraceId(run.place.trace), span_id: toSpanId(key) };
  };

  hurry(): void {
    this.#flushAfterMs = 0;
    clearTimeout(this.#timer);
    void this.#flush(FLUSH_WITHIN_MS);
  }

  async close(): Promise<void> {
    this.#unlisten();
    await this.#working;
    clearTimeout(this.#timer);
    // Also if a flush is running that takes longer: what it does not store is given out again.
    await settledWithin(this.#flush(CLOSE_WITHIN_MS), CLOSE_WITHIN_MS);
  }

  #note(threadId: string): void {
    if (this.#waiting.size >= MAX_THREADS) return;
    this.#waiting.add(threadId);
    this.#working ??= Promise.resolve().then(() => this.#work());
  }

  async #work(): Promise<void> {
    for (const threadId of this.#waiting) {
      this.#waiting.delete(threadId);
      if (this.#isFull(threadId)) continue;
      // A store in trouble: maintenance tries again.
      await this.#advance(threadId).catch(() => undefined);
    }
    this.#working = undefined;
    this.#schedule();
  }

  /** The span of work whose beginning is in the log. */
  async #findSpan(work: TracedWork): Promise<SpanPlace | undefined> {
    const { threadId } = work;
    if (this.#isFull(threadId)) return undefined;
    const { execution } = await this.#advance(threadId);
    this.#schedule();
    if (!execution) return undefined;
    const key = keyOf(execution, work);
    return execution.open[key] && { trace: execution.place.trace, key };
  }

  #isFull(threadId: string): boolean {
    return this.#places.size >= MAX_THREADS && !this.#places.has(threadId);
  }

  #advance(threadId: string): Promise<TraceState> {
    const before = this.#readings.get(threadId);
    const reading = (async () => {
      await before?.catch(() => undefined);
      return this.#readOn(threadId);
    })();
    this.#readings.set(threadId, reading);
    const end = () => {
      if (this.#readings.get(threadId) === reading) this.#readings.delete(threadId);
    };
    reading.then(end, end);
    return reading;
  }

  async #readOn(threadId: string): Promise<TraceState> {
    for (;;) {
      const page = await this.#store.traces.read(threadId, this.#places.get(threadId));
      let state = (page.cursor.state ?? { threadId, execution: null }) as TraceState;
      for (const row of page.rows) {
        const [next, spans] = projectSpans(state, await completeRow(row, this.#callers), this.#project);
        state = next;
        for (const span of spans) if (this.#sender.send(await this.#withContent(span))) this.#given += 1;
      }
      if (page.seq > page.cursor.seq) this.#places.set(threadId, { seq: page.seq, state });
      this.#noteRunning(threadId, state);
      if (!page.more) return state;
    }
  }

  async #withContent(span: TraceSpan): Promise<TraceSpan> {
    if (!this.#readContent || !span.content) return span;
    const content = await this.#readContent(span.content);
    return { ...span, attributes: { ...span.attributes, ...content } };
  }

  #noteRunning(threadId: string, { execution }: TraceState): void {
    this.#running.delete(threadId);
    if (!execution) return;
    this.#running.set(threadId, execution);
    const [oldest] = this.#running.keys();
    if (this.#running.size > MAX_THREADS && oldest !== undefined) this.#running.delete(oldest);
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.#flush(FLUSH_WITHIN_MS), this.#flushAfterMs).unref();
  }

  async #flush(withinMs: number): Promise<void> {
    this.#timer = undefined;
    this.#flushing ??= this.#flushAndStore(withinMs).finally(() => {
      this.#flushing = undefined;
    });
    await this.#flushing;
  }

  async #flushAndStore(withinMs: number): Promise<void> {
    const given = [...this.#places];
    if (given.length === 0) return;
    const count = this.#given;
    this.#given = 0;
    const isExported = await settledWithin(this.#provider.forceFlush?.(), withinMs);
    this.#countSpans?.(isExported ? 'exported' : 'dropped', count);
    for (const [threadId, place] of given) {
      await this.#store.traces.save({ threadId, ...place }).catch(() => undefined);
      if (this.#places.get(threadId) === place) this.#places.delete(threadId);
    }
    if (this.#places.size > 0) this.#schedule();
  }
}

const keyOf = (run: OpenExecution, work: TracedWork): string =>
  'callId' in work ? bodyKey(run, work.step, work.callId) : requestKey(run, work);

/** Waits for the promise, at most so long, and whatever becomes of it. False if it was late, or rejected. */
function settledWithin(promise: Promise<void> | undefined, timeoutMs: number): Promise<boolean> {
  return withinTime(() => promise, { timeoutMs }).then(
    () => true,
    () => false,
  );
}
