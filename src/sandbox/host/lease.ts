/** The use of a child of the pool by one run, and the events that the run receives. */
import type { FromChild, ToChild } from '../protocol.ts';
import type { ChildEnd } from './child-process.ts';

export interface Lease {
  send(message: ToChild): void;
  /** Ends the child's work for this run; the child is killed if it does not report `idle` in time. */
  stop(): void;
  /** Moves the run out of the pool, so that another may begin; false if there is no room. */
  hold(): boolean;
}

export interface LeaseEvents {
  onLease(lease: Lease): void;
  onMessage(message: FromChild): void;
  /** The child has ended, during the run or while it was held. */
  onEnd(end: ChildEnd): void;
}

export interface Ticket {
  /** Leaves the queue; has no effect once the run has begun. */
  cancel(): void;
}
