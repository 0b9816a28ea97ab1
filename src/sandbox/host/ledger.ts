/**
 * Accounts for the memory that the runs of one sandbox hold in this process: reports, logs and arguments of pending
 * calls, measured before they are read. Each account may always hold a little; a run that would exceed the shared rest
 * is ended.
 */
import { RuntimeError } from '../../core/value/error.ts';
import { SANDBOX_LIMITS } from '../limits.ts';

export class Ledger {
  #totalBytes = 0;

  open(): Account {
    return new Account((bytes) => this.#hold(bytes));
  }

  #hold(bytes: number): boolean {
    if (bytes > 0 && this.#totalBytes + bytes > SANDBOX_LIMITS.heldTogether) return false;
    this.#totalBytes += bytes;
    return true;
  }
}

/** An account of one run. */
export class Account {
  readonly #holdCommon: (bytes: number) => boolean;
  #held = 0;

  constructor(common: (bytes: number) => boolean) {
    this.#holdCommon = common;
  }

  /** Throws `SandboxBusy` if all runs together hold too much. */
  hold(bytes: number): void {
    const more = beyondOwn(this.#held + bytes) - beyondOwn(this.#held);
    if (!this.#holdCommon(more)) throw new RuntimeError('SandboxBusy', FULL_MESSAGE);
    this.#held += bytes;
  }

  release(bytes: number): void {
    this.#holdCommon(beyondOwn(this.#held - bytes) - beyondOwn(this.#held));
    this.#held -= bytes;
  }

  close(): void {
    this.release(this.#held);
  }
}

const beyondOwn = (bytes: number): number => Math.max(0, bytes - SANDBOX_LIMITS.heldByRun);

const FULL_MESSAGE =
  `The programs running in this process hold ${SANDBOX_LIMITS.heldTogether} bytes in total in reports, logs and arguments of ` +
  'calls: there is no room for more of this one. Report and pass less at a time, or run it again later.';
