/**
 * Requests from outside: to stop the thread, to terminate it, or to cancel an execution. Each cancels the running step;
 * the loop settles the rest.
 */
import { CancellationScope } from '@temporalio/workflow';
import type { CancelRequest, CancelVerdict } from '../core/governance/cancellation.ts';
import type { EndPayload } from './messages.ts';

/** A request to cancel an execution; `verdict` is set once the store has decided. */
export interface CancelAsked {
  readonly request: CancelRequest;
  verdict?: CancelVerdict;
}

export class Requests {
  readonly #asked: CancelAsked[] = [];
  #canceled = false;
  #settled = 0;
  #stop: EndPayload | undefined;
  #terminate: EndPayload | undefined;
  #step: CancellationScope | undefined;

  get stop(): EndPayload | undefined {
    return this.#stop;
  }

  get terminate(): EndPayload | undefined {
    return this.#terminate;
  }

  /** Requests a stop; the latest reason counts. */
  requestStop(request: EndPayload): void {
    this.#stop = request;
    this.#step?.cancel();
  }

  /** Requests the end of the thread; the first reason counts. */
  requestTerminate(request: EndPayload): void {
    this.#terminate ??= request;
    this.#step?.cancel();
  }

  /** The next request to cancel that the store has not decided yet. */
  get asked(): CancelAsked | undefined {
    return this.#asked[0];
  }

  /** True if the current execution is cancelled and the loop must settle it. */
  get canceled(): boolean {
    return this.#canceled;
  }

  /** How many times the loop has settled. */
  get settled(): number {
    return this.#settled;
  }

  askCancel(request: CancelRequest): CancelAsked {
    const asked: CancelAsked = { request };
    this.#asked.push(asked);
    return asked;
  }

  answerCancel(asked: CancelAsked, verdict: CancelVerdict, aborts: boolean): void {
    this.#asked.shift();
    asked.verdict = verdict;
    if (!aborts) return;
    this.#canceled = true;
    this.#step?.cancel();
  }

  /** Records that the store has ended the current execution. */
  settle(): void {
    this.#canceled = false;
    this.#settled += 1;
  }

  /** Clears the stop that the store has settled; a newer one remains to be settled. */
  settleStop(request: EndPayload | undefined): void {
    if (this.#stop === request) this.#stop = undefined;
  }

  /** True if a step is running and no stop or cancellation was requested. */
  get stepGoesOn(): boolean {
    return this.#step !== undefined && !this.#stop && !this.#canceled;
  }

  /** Returns a new scope for the step; requests cancel it until `leaveStep`. */
  enterStep(): CancellationScope {
    this.#step = new CancellationScope();
    return this.#step;
  }

  leaveStep(): void {
    this.#step = undefined;
  }
}
