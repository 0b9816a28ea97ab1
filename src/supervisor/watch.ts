/**
 * What a supervisor knows of the process that it keeps running, for whoever watches it: how far that is, how often one has fallen, and
 * what it answers when it is asked.
 * A1. A process that is busy, or is not there, costs whoever asks a bounded time.
 */
import type { Asked } from './protocol.ts';

/** `stopping`: it was asked to end, by us or by another process. */
export type Phase = 'starting' | 'ready' | 'stopping' | 'fallen';

interface Question {
  readonly kind: 'ask';
  readonly id: number;
  readonly what: Asked;
}

export class SupervisorWatch {
  phase: Phase = 'starting';
  /** Processes that have ended by themselves, by how: `exit code 1`, `signal SIGKILL`, … */
  readonly falls = new Map<string, number>();
  readonly #open = new Map<number, (value: unknown) => void>();
  #send: ((question: Question) => void) | undefined;
  #last = 0;

  /** A process begins. */
  attach(send: (question: Question) => void): void {
    this.#send = send;
    if (this.phase !== 'stopping') this.phase = 'starting';
  }

  /** It has ended: `how` where nobody has asked it to. */
  detach(how: string | undefined): void {
    this.#send = undefined;
    for (const settle of this.#open.values()) settle(undefined);
    if (how === undefined) return;
    this.falls.set(how, (this.falls.get(how) ?? 0) + 1);
    this.phase = 'fallen';
  }

  hear({ id, value }: { readonly id: number; readonly value: unknown }): void {
    this.#open.get(id)?.(value);
  }

  /** Undefined where the process does not answer within the time (A1). */
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
