/**
 * What was asked of the thread from outside: to stop, to terminate, to cancel an execution. Each cancels the step that runs; the loop settles the rest.
 */
import { CancellationScope } from '@temporalio/workflow';
import type { CancelRequest, CancelVerdict } from '../core/governance/cancellation.ts';

export interface EndRequest {
  readonly reason?: string;
}

/** Somebody asks to cancel an execution; whoever waits for the verdict finds it here. */
export interface CancelAsked {
  readonly request: CancelRequest;
  verdict?: CancelVerdict;
}

export class Requests {
  readonly #asked: CancelAsked[] = [];
  #canceled = false;
  #settled = 0;
  #stop: EndRequest | undefined;
  #terminate: EndRequest | undefined;
  #step: CancellationScope | undefined;

  get stop(): EndRequest | undefined {
    return this.#stop;
  }

  get terminate(): EndRequest | undefined {
    return this.#terminate;
  }

  /** The latest reason counts. */
  requestStop(request: EndRequest): void {
    this.#stop = request;
    this.#step?.cancel();
  }

  /** The first reason counts. */
  requestTerminate(request: EndRequest): void {
    this.#terminate ??= request;
    this.#step?.cancel();
  }

  /** The next request to cancel that the store has not heard of. */
  get asked(): CancelAsked | undefined {
    return this.#asked[0];
  }

  /** The execution under way is cancelled, and the loop is to settle it. */
  get canceled(): boolean {
    return this.#canceled;
  }

  /** How often the loop has settled. */
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

  /** The store has ended what was under way. */
  settle(): void {
    this.#canceled = false;
    this.#settled += 1;
  }

  /** The stop that the store has settled; one that came meanwhile is still to be settled. */
  settleStop(request: EndRequest | undefined): void {
    if (this.#stop === request) this.#stop = undefined;
  }

  /** A step runs, and nobody has asked to end it. */
  get stepGoesOn(): boolean {
    return this.#step !== undefined && !this.#stop && !this.#canceled;
  }

  /** The scope that a step runs in, until `leaveStep`. */
  enterStep(): CancellationScope {
    this.#step = new CancellationScope();
    return this.#step;
  }

  leaveStep(): void {
    this.#step = undefined;
  }
}
