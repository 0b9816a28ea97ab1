/**
 * The state of the worker process that a supervisor keeps running, for monitoring: its phase, how often such processes
 * ended unexpectedly, and queries that the process itself answers.
 * - A query takes a bounded time, even if the process is busy or not running.
 */
import type { Asked } from './protocol.ts';

/** `stopping`: the process was asked to end, by the supervisor or by something else. */
export type Phase = 'starting' | 'ready' | 'stopping' | 'fallen';

interface Question {
  readonly kind: 'ask';
  readonly id: number;
  readonly what: Asked;
}

/** How a process fell whose event loop was blocked. Without the time, of which each value would be a series. */
export const STALLED = 'blocked event loop';

/** Shown as 0 before the first: Prometheus' `increase()` does not count what a series begins with. */
const KNOWN_FALLS: readonly string[] = ['exit code 1', 'signal SIGKILL', 'signal SIGABRT', STALLED];

export class SupervisorWatch {
  phase: Phase = 'starting';
  /** Number of processes that ended without the supervisor's request, by how: `exit code 1`, `signal SIGKILL`, … */
  readonly falls = new Map(KNOWN_FALLS.map((how) => [how, 0]));
  readonly #open = new Map<number, (value: unknown) => void>();
  #send: ((question: Question) => void) | undefined;
  #last = 0;

  /** Called when a process has been started. `send` sends it a question. */
  attach(send: (question: Question) => void): void {
    this.#send = send;
    if (this.phase !== 'stopping') this.phase = 'starting';
  }

  /** Called when the process has ended. `how`: undefined if the supervisor asked it to end, or it refused to work. */
  detach(how: string | undefined): void {
    this.#send = undefined;
    for (const settle of this.#open.values()) settle(undefined);
    if (how === undefined) return;
    this.falls.set(how, (this.falls.get(how) ?? 0) + 1);
    this.phase = 'fallen';
  }

  receive({ id, value }: { readonly id: number; readonly value: unknown }): void {
    this.#open.get(id)?.(value);
  }

  /** Asks the process; undefined if it does not answer within `withinMs`. */
  async ask(what: Asked, withinMs: number): Promise<unknown> {
    const send = this.#send;
    if (!send) return undefined;
    this.#last += 1;
    const id = this.#last;
    const answer = Promise.withResolvers<unknown>();
    this.#open.set(id, answer.resolve);
    const timer = setTimeout(() => answer.resolve(undefined), withinMs);
    send({ kind: 'ask', id, what });
    try {
      return await answer.promise;
    } finally {
      clearTimeout(timer);
      this.#open.delete(id);
    }
  }
}
