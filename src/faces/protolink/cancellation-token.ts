/** Cancellation of a task as the code of this process sees it; it is never part of a task. */

/**
 * Tells code that its task is cancelled.
 * @example
 * ```ts
 * const token = new CancellationToken();
 * token.cancel('Stopped by user');
 * console.log(token.isCancelled, token.reason); // true, 'Stopped by user'
 * ```
 */
export class CancellationToken {
  readonly #controller = new AbortController();
  #reason: string | null = null;
  #canceledAt: string | null = null;

  get isCancelled(): boolean {
    return this.signal.aborted;
  }

  get reason(): string | null {
    return this.#reason;
  }

  /** ISO 8601, UTC. */
  get canceledAt(): string | null {
    return this.#canceledAt;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Only informs code that has the token: a task is cancelled by `Agent.cancelTask`. False if it was cancelled before. */
  cancel(reason: string | null = null): boolean {
    if (this.isCancelled) return false;
    this.#reason = reason;
    this.#canceledAt = new Date().toISOString();
    this.#controller.abort(new DOMException(reason ?? 'The task is cancelled.', 'AbortError'));
    return true;
  }

  /** Throws an `AbortError` with the reason once it is cancelled. */
  raiseIfCancelled(): void {
    this.signal.throwIfAborted();
  }
}
