/** One run's hold on a child of the pool, and what the run hears of it. */
import type { FromChild, ToChild } from '../protocol.ts';
import type { ChildEnd } from './child-process.ts';

export interface Lease {
  send(message: ToChild): void;
  /** Ends whatever the child does for this run; it is killed when it does not say so in time. */
  stop(): void;
  /** Moves the run out of the pool, so that another may begin; false when there is no room. */
  hold(): boolean;
}

export interface LeaseEvents {
  onLease(lease: Lease): void;
  onMessage(message: FromChild): void;
  /** The child is gone, in the middle of the run or of a hold. */
  onEnd(end: ChildEnd): void;
}

export interface Ticket {
  /** Leaves the line; nothing happens when the run has begun. */
  cancel(): void;
}
