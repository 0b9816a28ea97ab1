/**
 * AgenticX's four confirm gates, which approve or refuse what tools ask for. A question is a wait of the engine; a gate
 * answers it while its process lives.
 */
import { createInterface } from 'node:readline/promises';
import { defer } from '../../core/value/deferred.ts';
import type { ConfirmContext } from '../../projections/agenticx/agenticx-event.ts';

/**
 * Answers what a tool wants confirmed. The first answer to the wait decides, from here or from elsewhere.
 * @example
 * ```ts
 * class Careful extends ConfirmGate {
 *   requestConfirm(question: string): boolean {
 *     return !question.includes('delete');
 *   }
 * }
 * ```
 */
export abstract class ConfirmGate {
  /** If true, nothing is asked: there is no wait, and no event. */
  readonly approvesAll: boolean = false;

  /** `signal` aborts once the answer is no longer needed. An error counts as a refusal. */
  abstract requestConfirm(
    question: string,
    context: ConfirmContext,
    signal?: AbortSignal,
  ): boolean | Promise<boolean>;
}

/**
 * Approves everything that tools want confirmed, without a question.
 * @example
 * ```ts
 * const gate = new AutoApproveConfirmGate();
 * ```
 */
export class AutoApproveConfirmGate extends ConfirmGate {
  override readonly approvesAll = true;
  readonly lastRequest = null;

  requestConfirm(): boolean {
    return true;
  }
}

export interface TerminalStreams {
  /** Standard input unless given. */
  readonly input?: NodeJS.ReadableStream;
  /** Standard output unless given. */
  readonly output?: NodeJS.WritableStream;
}

/**
 * Asks on the terminal, one question after the other: `y` and `yes` approve; anything else, and the end of the input,
 * refuses.
 * @example
 * ```ts
 * const gate = new SyncConfirmGate();
 * ```
 */
export class SyncConfirmGate extends ConfirmGate {
  readonly #streams: TerminalStreams;
  #previous: Promise<unknown> = Promise.resolve();

  constructor(streams: TerminalStreams = {}) {
    super();
    this.#streams = streams;
  }

  requestConfirm(question: string, _context: ConfirmContext, signal?: AbortSignal): Promise<boolean> {
    const answer = this.#previous.then(() => !signal?.aborted && this.#ask(question, signal));
    this.#previous = answer.catch(() => undefined);
    return answer;
  }

  async #ask(question: string, signal?: AbortSignal): Promise<boolean> {
    const { input = process.stdin, output = process.stdout } = this.#streams;
    const terminal = createInterface({ input, output });
    const over = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
    try {
      const reply = terminal.question(`${question} [y/N] `, signal ? { signal } : {});
      return /^\s*y(es)?\s*$/i.test(await Promise.race([reply, over]));
    } finally {
      terminal.close();
    }
  }
}

export interface ConfirmRequest {
  readonly id: string;
  readonly question: string;
  readonly context: ConfirmContext;
}

/**
 * A gate that other code of this process answers: a route of a server, or a user interface.
 * @example
 * ```ts
 * const gate = new AsyncConfirmGate();
 * const answer = (id: string, approved: boolean) => (gate.resolve(id, approved) ? 200 : 404);
 * ```
 */
export class AsyncConfirmGate extends ConfirmGate {
  /** By id of the request: several readers of a turn may ask for the same answer. */
  readonly #open = new Map<string, Set<(approved: boolean) => void>>();
  #last: ConfirmRequest | null = null;

  /** The latest request, open or not. */
  get lastRequest(): ConfirmRequest | null {
    return this.#last;
  }

  requestConfirm(question: string, context: ConfirmContext, signal?: AbortSignal): Promise<boolean> {
    const { request_id: id } = context;
    const { promise, resolve } = defer<boolean>();
    this.#last = { id, question, context };
    const askers = this.#open.get(id) ?? new Set();
    this.#open.set(id, askers.add(resolve));
    const withdraw = () => {
      askers.delete(resolve);
      if (askers.size === 0 && this.#open.get(id) === askers) this.#open.delete(id);
      resolve(false);
    };
    signal?.addEventListener('abort', withdraw, { once: true });
    return promise;
  }

  /** Returns false if there is no open request with this id. */
  resolve(id: string, approved: boolean): boolean {
    const askers = this.#open.get(id);
    this.#open.delete(id);
    for (const answer of askers ?? []) answer(approved);
    return askers !== undefined;
  }
}
