/**
 * An execution that code of this process produces: its lines go into the log as they come, so every attached reader
 * receives them, and its final text is the answer.
 * - A produced execution begins once under its id, in one process. Later callers attach to it, and it never begins
 *   again (store/producer/producer.ts, D2), unless they say that it may: then one of them begins it again once its
 *   process is silent.
 * - A produced execution lives with its process, which renews its presence. After 30 s without a renewal it fails
 *   with `ProducerLost`.
 * - A produced execution begins at its turn in the thread, and its signal aborts once it is over. It may have been
 *   stopped from outside, or its presence may have expired.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProviderUsage } from '../core/message/provider.ts';
import { itemIdOf } from '../core/thread/execution-id.ts';
import {
  PRESENCE_MS,
  type Produced,
  type ProducedLine,
  producerLost,
  usageOf,
} from '../core/thread/producer.ts';
import type { StoredError } from '../core/thread/step.ts';
import {
  ERRORS,
  type ErrorCode,
  errorMessage,
  isRuntimeError,
  isStoreUnavailable,
  RuntimeError,
} from '../core/value/error.ts';
import type { ProducerPresence } from '../store/producer/producer-record.ts';
import type { ThreadStore } from '../store/store.ts';
import { followRows } from './follow-events.ts';
import { type BeginExecution, beginExecution } from './named-execution.ts';
import { prepareMessage } from './outgoing.ts';
import { LineWriter } from './produced-lines.ts';
import type { RuntimeClient } from './runtime-client.ts';

export interface ProduceInput {
  readonly executionId: string;
  /** Aborts once no more output is accepted. */
  readonly signal: AbortSignal;
}

export interface Production {
  readonly lines: AsyncIterable<ProducedLine>;
  /**
   * Called after the last line; returns the result of the execution. `usage` is the sum of its lines of the type
   * `llm_call` unless given.
   */
  end(): Promise<{ readonly text: string; readonly usage?: ProviderUsage }>;
}

export interface ProduceExecution extends Omit<BeginExecution, 'content'> {
  readonly content: string;
  readonly produce: (producing: ProduceInput) => Promise<Production> | Production;
  /** True if `produce` may run again when the process that ran it is lost. False unless given. */
  readonly repeatable?: boolean | undefined;
  /** X2, in milliseconds; 30,000 unless given. */
  readonly presenceMs?: number;
}

/**
 * Sends the execution, and resolves once it is queued; `produce` runs later. Throws as `beginExecution` does, and
 * `ExecutionConflict` also if an agent answers under the same id.
 */
export async function produceExecution(client: RuntimeClient, given: ProduceExecution): Promise<void> {
  const { produce, presenceMs = PRESENCE_MS, repeatable = false, ...begin } = given;
  const { executionId, threadId, content, context } = begin;
  // Distinguishes it from an execution with the same content that an agent answers.
  const metadata = { ...begin.metadata, produced: true };
  const store = client.store;
  const thread = await store.threads.get(threadId);
  const destination = {
    store,
    threadId,
    userId: thread?.userId ?? begin.userId ?? null,
    writeFile: refuseFile,
  };
  // The id is claimed with its content, then by its producer, then the message is sent: so the step that begins it
  // knows its producer.
  await prepareMessage(destination, { content, executionId, metadata, ...(context && { context }) });
  const presence = { threadId, executionId, holder: randomUUID(), presenceMs };
  const ours = await store.producers.claim(presence);
  const run = ours ? new ProducedRun(store, presence, produce) : undefined;
  try {
    await beginExecution(client, { ...begin, metadata });
  } catch (error) {
    run?.abandon();
    throw error;
  }
  if (run) void run.follow(thread?.lastSeq ?? 0);
  else if (repeatable) void succeed(store, presence, produce);
}

/** Waits until the process that produces the execution is silent, or the execution is over. Never rejects. */
async function succeed(
  store: ThreadStore,
  presence: ProducerPresence,
  produce: ProduceExecution['produce'],
): Promise<void> {
  const { threadId, executionId } = presence;
  for (;;) {
    try {
      if ((await store.producers.find(threadId, executionId))?.state !== 'open') return;
      if (await store.producers.takeOver(presence)) {
        const begun = await store.executions.get(threadId, executionId);
        const { lastSeq = 0 } = (await store.threads.get(threadId)) ?? {};
        // From its beginning, if it has begun.
        const after = begun?.firstSeq ? begun.firstSeq - 1 : lastSeq;
        return await new ProducedRun(store, presence, produce).follow(after);
      }
    } catch (error) {
      if (!isStoreUnavailable(error)) return;
    }
    await delay(presence.presenceMs / 30, undefined, { ref: false });
  }
}

function refuseFile(): never {
  throw new RuntimeError('InvalidMessage', 'A turn cannot contain files.');
}

class ProducedRun {
  readonly #store: ThreadStore;
  readonly #presence: ProducerPresence;
  readonly #produce: ProduceExecution['produce'];
  readonly #ended = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #begun = false;

  constructor(store: ThreadStore, presence: ProducerPresence, produce: ProduceExecution['produce']) {
    this.#store = store;
    this.#presence = presence;
    this.#produce = produce;
    // Three renewals per presence period, so two may fail.
    this.#timer = setInterval(() => void this.#renewPresence(), presence.presenceMs / 3);
    this.#timer.unref();
  }

  /** Gives the run up: its message could not be sent. */
  abandon(): void {
    clearInterval(this.#timer);
    this.#ended.abort();
  }

  /** Follows the log until the execution is over. Never rejects: failures are logged, or the presence expires. */
  async follow(after: number): Promise<void> {
    const { threadId, executionId } = this.#presence;
    const itemId = itemIdOf(executionId);
    const signal = this.#ended.signal;
    try {
      for await (const page of followRows(this.#store, threadId, { after, signal }))
        for (const { type, data } of page) {
          if (type === 'execution.started' && data.executionId === executionId) void this.#run();
          const isOver =
            ((type === 'execution.ended' || type === 'produced.ended') && data.executionId === executionId) ||
            (type === 'item.rejected' && data.id === itemId) ||
            (type === 'message.deleted' && data.messageId === itemId && data.role === undefined) ||
            type === 'thread.terminated';
          // If something ended it early, such as its budget, the event has the reason.
          const why = type === 'produced.ended' && data.error;
          if (isOver) this.#end(why ? toRuntimeError(why) : this.#lostError());
        }
    } catch (error) {
      this.#end(error);
    }
  }

  async #renewPresence(): Promise<void> {
    // An unreachable store may be reachable again before the presence expires.
    const present = await this.#store.producers.renew(this.#presence).catch(() => true);
    if (!present) this.#end(this.#lostError());
  }

  #lostError(): RuntimeError {
    return new RuntimeError('ProducerLost', producerLost(this.#presence.executionId).message);
  }

  #end(reason: unknown): void {
    clearInterval(this.#timer);
    if (!this.#ended.signal.aborted) this.#ended.abort(reason);
  }

  async #run(): Promise<void> {
    if (this.#begun) return;
    this.#begun = true;
    const produced = await this.#produceAnswer();
    const { threadId, executionId, holder } = this.#presence;
    await this.#retryWhileUnavailable(() =>
      this.#store.producers.settle({ threadId, executionId, holder, produced }),
    ).catch(() => undefined);
    this.#end(undefined);
  }

  async #produceAnswer(): Promise<Produced> {
    const { executionId } = this.#presence;
    const { signal } = this.#ended;
    const writer = new LineWriter((from, lines) =>
      this.#retryWhileUnavailable(() => this.#store.producers.append({ ...this.#presence, from, lines })),
    );
    try {
      const { lines, end } = await this.#produce({ executionId, signal });
      const asked: ProducedLine[] = [];
      await pushLines(lines, signal, async (line) => {
        await writer.push(line);
        if (line.type === 'llm_call') asked.push(line);
      });
      await writer.finish();
      const { text, usage = toUsage(asked) } = await end();
      return { ok: true, text, usage };
    } catch (error) {
      // Lines that came before the failure are still written.
      await writer.finish().catch(() => undefined);
      const code = isRuntimeError(error) ? error.code : 'ProducerFailed';
      return { ok: false, error: { code, message: errorMessage(error).slice(0, 1000) } };
    }
  }

  /** Retries while the store is unreachable; the presence may have expired once it is back. */
  async #retryWhileUnavailable<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (this.#ended.signal.aborted || !isStoreUnavailable(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, STORE_RETRY_MS));
      }
    }
  }
}

const STORE_RETRY_MS = 500;

function toUsage(lines: readonly ProducedLine[]): ProviderUsage {
  const { calls: _, ...usage } = usageOf(lines);
  return usage;
}

function toRuntimeError({ code, message }: StoredError): RuntimeError {
  return new RuntimeError(Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'ProducerLost', message);
}

/** Pushes all lines. Rejects with the reason of the signal once it aborts, even if the producing code hangs. */
async function pushLines(
  lines: AsyncIterable<ProducedLine>,
  signal: AbortSignal,
  push: (line: ProducedLine) => Promise<void>,
): Promise<void> {
  const iterator = lines[Symbol.asyncIterator]();
  const left = Promise.withResolvers<never>();
  left.promise.catch(() => undefined);
  const leave = () => left.reject(signal.reason);
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  try {
    for (;;) {
      const step = await Promise.race([iterator.next(), left.promise]);
      if (step.done) return;
      await push(step.value);
    }
  } catch (error) {
    // Not awaited: it may hang.
    Promise.resolve(iterator.return?.()).catch(() => undefined);
    throw error;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
