/**
 * An execution that code of this process produces: what it tells goes into the log as it comes, so whoever attaches reads it, and what it ends with is
 * the answer.
 * X1. It begins once under its id, in one process, and never again: whoever else asks for the same attaches (store/commands/producer/producer.ts, D1).
 * X2. It lives with this process, which shows its presence: without it for 30 s the execution has failed, `ProducerLost`.
 * X3. It begins when it is its thread's turn, and is told to end, by its signal, when its execution has: somebody has stopped it, or its presence was not
 *     seen.
 */
import { randomUUID } from 'node:crypto';
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
  isStoreAway,
  RuntimeError,
} from '../core/value/error.ts';
import type { ProducerPresence } from '../store/port/producer.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import { storeOf } from './client-store.ts';
import { followRows } from './follow-events.ts';
import { type BeginExecution, beginExecution } from './named-execution.ts';
import { prepareMessage } from './outgoing.ts';
import { LineWriter } from './produced-lines.ts';
import type { RuntimeClient } from './runtime-client.ts';

export interface Producing {
  readonly executionId: string;
  /** X3: fires when nothing more of it is taken. */
  readonly signal: AbortSignal;
}

export interface Production {
  readonly lines: AsyncIterable<ProducedLine>;
  /** Behind the last line: what the execution has come to. `usage`: what its lines of the type `llm_call` say unless given. */
  end(): Promise<{ readonly text: string; readonly usage?: ProviderUsage }>;
}

export interface ProduceExecution extends BeginExecution {
  readonly produce: (producing: Producing) => Promise<Production> | Production;
  /** X2; 30 s unless given. */
  readonly presenceMs?: number;
}

/**
 * Sends it, and answers once it is in line; it is produced behind that (X3). Throws as `beginExecution` does: `ExecutionConflict` also where an agent answers under
 * the same id.
 */
export async function produceExecution(client: RuntimeClient, given: ProduceExecution): Promise<void> {
  const { produce, presenceMs = PRESENCE_MS, ...begin } = given;
  const { executionId, threadId, content, context } = begin;
  // Another execution than what an agent answers under the same words.
  const metadata = { ...begin.metadata, produced: true };
  const store = storeOf(client);
  const thread = await store.threads.get(threadId);
  const destination = { store, threadId, userId: thread?.userId ?? begin.userId ?? null, writeFile: noFile };
  // Claimed with its words, then its producer, then it is sent: a step that begins it knows who produces it.
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
  void run?.follow(thread?.lastSeq ?? 0);
}

function noFile(): never {
  throw new RuntimeError('InvalidMessage', 'A turn brings no files.');
}

class ProducedRun {
  readonly #store: ThreadStore;
  readonly #presence: ProducerPresence;
  readonly #produce: ProduceExecution['produce'];
  readonly #over = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #begun = false;

  constructor(store: ThreadStore, presence: ProducerPresence, produce: ProduceExecution['produce']) {
    this.#store = store;
    this.#presence = presence;
    this.#produce = produce;
    // X2: three signs, of which two may be lost.
    this.#timer = setInterval(() => void this.#show(), presence.presenceMs / 3);
    this.#timer.unref();
  }

  /** It was not sent. */
  abandon(): void {
    clearInterval(this.#timer);
    this.#over.abort();
  }

  /** X3: until its execution is over. Never rejects: what fails is in the log, or its presence ends. */
  async follow(after: number): Promise<void> {
    const { threadId, executionId } = this.#presence;
    const itemId = itemIdOf(executionId);
    const signal = this.#over.signal;
    try {
      for await (const page of followRows(this.#store, threadId, { after, signal }))
        for (const { type, data } of page) {
          if (type === 'execution.started' && data.executionId === executionId) void this.#run();
          const isOver =
            ((type === 'execution.ended' || type === 'produced.ended') && data.executionId === executionId) ||
            (type === 'item.rejected' && data.id === itemId) ||
            (type === 'message.deleted' && data.messageId === itemId && data.role === undefined) ||
            type === 'thread.terminated';
          // What ended it before its time, such as its budget, is why.
          const why = type === 'produced.ended' && data.error;
          if (isOver) this.#end(why ? toRuntimeError(why) : this.#lost());
        }
    } catch (error) {
      this.#end(error);
    }
  }

  async #show(): Promise<void> {
    // A store that is away may be back before the presence is over.
    const present = await this.#store.producers.renew(this.#presence).catch(() => true);
    if (!present) this.#end(this.#lost());
  }

  #lost(): RuntimeError {
    return new RuntimeError('ProducerLost', producerLost(this.#presence.executionId).message);
  }

  #end(reason: unknown): void {
    clearInterval(this.#timer);
    if (!this.#over.signal.aborted) this.#over.abort(reason);
  }

  async #run(): Promise<void> {
    if (this.#begun) return;
    this.#begun = true;
    const produced = await this.#answer();
    const { threadId, executionId, holder } = this.#presence;
    await this.#whileAway(() =>
      this.#store.producers.settle({ threadId, executionId, holder, produced }),
    ).catch(() => undefined);
    this.#end(undefined);
  }

  async #answer(): Promise<Produced> {
    const { executionId } = this.#presence;
    const { signal } = this.#over;
    const writer = new LineWriter((from, lines) =>
      this.#whileAway(() => this.#store.producers.tell({ ...this.#presence, from, lines })),
    );
    try {
      const { lines, end } = await this.#produce({ executionId, signal });
      const asked: ProducedLine[] = [];
      await pump(lines, signal, async (line) => {
        await writer.push(line);
        if (line.type === 'llm_call') asked.push(line);
      });
      await writer.finish();
      const { text, usage = toUsage(asked) } = await end();
      return { ok: true, text, usage };
    } catch (error) {
      // What was told before it failed is told.
      await writer.finish().catch(() => undefined);
      const code = isRuntimeError(error) ? error.code : 'ProducerFailed';
      return { ok: false, error: { code, message: errorMessage(error).slice(0, 1000) } };
    }
  }

  /** While the store is away; its presence may be over when it is back. */
  async #whileAway<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (this.#over.signal.aborted || !isStoreAway(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
      }
    }
  }
}

const AWAY_MS = 500;

function toUsage(lines: readonly ProducedLine[]): ProviderUsage {
  const { calls: _, ...usage } = usageOf(lines);
  return usage;
}

function toRuntimeError({ code, message }: StoredError): RuntimeError {
  return new RuntimeError(Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'ProducerLost', message);
}

/** Rejects with the reason of the signal, also where its code hangs. */
async function pump(
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
