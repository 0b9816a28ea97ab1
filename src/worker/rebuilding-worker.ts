/**
 * The worker for threads, replaced inside the process whenever its workflow context is lost (`context-guard.ts`). The
 * previous worker accepts nothing new and its activities continue; its successor replays the threads of its cache.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { errorMessage } from '../core/value/error.ts';
import type { ContextLoss, ContextWatch } from './guarded-threads.ts';
import { RebuildPace } from './rebuild-pace.ts';
import type { RetirableWorker } from './retirable-worker.ts';

export interface RebuildingWorker {
  run(): Promise<void>;
  /** Safe to call twice. */
  shutdown(): void;
}

export interface RebuildInput {
  create(watch: ContextWatch): Promise<RetirableWorker>;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** Pause before the next attempt if a new worker cannot be created, for instance because the server refuses it. */
const RETRY_MS = 2000;

export async function createRebuildingWorker(input: RebuildInput): Promise<RebuildingWorker> {
  const line = new WorkerSuccession(input);
  await line.open();
  return line;
}

interface Member {
  readonly worker: RetirableWorker;
  readonly loss: Promise<ContextLoss>;
}

class WorkerSuccession implements RebuildingWorker {
  readonly #input: RebuildInput;
  readonly #pace = new RebuildPace();
  readonly #ended = new AbortController();
  /** The last member is the active worker; earlier ones still have running activities. */
  #members: Member[] = [];

  constructor(input: RebuildInput) {
    this.#input = input;
  }

  async open(): Promise<Member> {
    const loss = Promise.withResolvers<ContextLoss>();
    const worker = await this.#input.create({
      admit: ({ workflowId }) => this.#admit(workflowId),
      lost: loss.resolve,
    });
    const member = { worker, loss: loss.promise };
    this.#members.push(member);
    return member;
  }

  shutdown(): void {
    this.#ended.abort();
    for (const { worker } of this.#members) worker.end();
  }

  async run(): Promise<void> {
    const retired: Promise<void>[] = [];
    try {
      for (let member = this.#members.at(-1); member; ) {
        const ended = member.worker.run();
        // `shutdown` was called before this worker ran.
        if (this.#ended.signal.aborted) member.worker.end();
        const loss = await Promise.race([member.loss, ended]);
        if (!loss) return;
        member.worker.retire();
        retired.push(this.#awaitEnd(member, ended));
        member = await this.#rebuild(loss);
      }
    } catch (error) {
      this.shutdown();
      throw error;
    } finally {
      await Promise.all(retired);
    }
  }

  /** Waits for the end of a retired worker. A failure is only logged: its successor is active. */
  async #awaitEnd(member: Member, ended: Promise<void>): Promise<void> {
    try {
      await ended;
    } catch (error) {
      this.#input.warn('A worker whose workflow context was lost failed while it was shutting down', {
        error,
      });
    } finally {
      this.#members = this.#members.filter((each) => each !== member);
    }
  }

  /** Creates the successor, and retries until that succeeds. Undefined once `shutdown` has been called. */
  async #rebuild(loss: ContextLoss): Promise<Member | undefined> {
    const delayMs = this.#pace.beginRebuild(Date.now());
    this.#logLoss(loss, delayMs);
    await this.#pause(delayMs);
    while (!this.#ended.signal.aborted) {
      try {
        return await this.open();
      } catch (error) {
        this.#input.warn('The worker for threads could not be rebuilt; trying again', { error });
        await this.#pause(RETRY_MS);
      }
    }
    return undefined;
  }

  #logLoss(loss: ContextLoss, delayMs: number): void {
    if (loss.kind === 'died') {
      const error = errorMessage(loss.error ?? 'it ended');
      this.#input.warn('The thread that workflows run in died: it is replaced', { error, delayMs });
      return;
    }
    const { workflowId = 'unknown', runId } = loss.culprit;
    const { count, refusedMs } = this.#pace.strike(workflowId, Date.now());
    this.#input.warn(
      'A thread computed longer than the script timeout: the workflow context is discarded and rebuilt',
      { workflowId, runId, timeouts: count, refusedMs, delayMs },
    );
  }

  #admit(workflowId: string): void {
    const until = this.#pace.refusedUntil(workflowId, Date.now());
    if (until === undefined) return;
    throw new Error(
      `The thread ${workflowId} computed longer than the script timeout: this worker does not retry it before ${new Date(until).toISOString()}.`,
    );
  }

  async #pause(milliseconds: number): Promise<void> {
    await wait(milliseconds, undefined, { signal: this.#ended.signal }).catch(() => {});
  }
}
