/**
 * What was asked of the thread from outside: to stop, to terminate. Each cancels the step that runs; the loop settles the rest.
 */
import { CancellationScope } from '@temporalio/workflow';

export interface EndRequest {
  readonly reason?: string;
}

export class Requests {
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

  /** The stop that the store has settled; one that came meanwhile is still to be settled. */
  settleStop(request: EndRequest | undefined): void {
    if (this.#stop === request) this.#stop = undefined;
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
