/**
 * One child of the pool, and its state. A child that has run the code of a tenant belongs to that tenant from then on:
 * no other tenant encounters what may be left in it.
 */

import { SANDBOX_LIMITS } from '../limits.ts';
import type { FromChild, Job, ToChild } from '../protocol.ts';
import type { ChildEnd, SandboxChild } from './child-process.ts';
import type { QueueEntry, Tenant } from './run-queue.ts';

export interface Entry extends QueueEntry {
  readonly job: Job;
}

export interface WaitingRun extends Entry {
  readonly events: LeaseEvents;
}

type State =
  | { readonly kind: 'starting' }
  | { readonly kind: 'free'; readonly since: number }
  | { readonly kind: 'busy'; readonly use: Use };

export class Member {
  readonly child: SandboxChild;
  readonly ended = Promise.withResolvers<void>();
  #state: State = { kind: 'starting' };
  /** Undefined until the first run. */
  #tenant: Tenant | undefined;
  #runs = 0;
  #isWorn = false;

  constructor(child: SandboxChild) {
    this.child = child;
  }

  get tenant(): Tenant | undefined {
    return this.#tenant;
  }

  get isStarting(): boolean {
    return this.#state.kind === 'starting';
  }

  /** The current run, if there is one. */
  get use(): Use | undefined {
    return this.#state.kind === 'busy' ? this.#state.use : undefined;
  }

  /** Time from which the child has been free, by `performance.now()`; undefined if it is not free. */
  get freeSince(): number | undefined {
    return this.#state.kind === 'free' ? this.#state.since : undefined;
  }

  /** True if the child must not get another run: it has served its maximum of runs, or was worn out. */
  get isSpent(): boolean {
    return this.#isWorn || this.#runs >= SANDBOX_LIMITS.runsPerChild;
  }

  /** Excludes the child from later runs: one that was ended, or reached its limit once, must not burden them. */
  wearOut(): void {
    this.#isWorn = true;
  }

  /** Marks the child as free: it is ready, or its run is over. */
  rest(): void {
    this.use?.close();
    this.#state = { kind: 'free', since: performance.now() };
  }

  begin(waiting: WaitingRun): Use {
    const use = new Use(waiting);
    this.#runs += 1;
    this.#tenant = waiting.tenant;
    this.#state = { kind: 'busy', use };
    return use;
  }
}

/** One run in one child. */
export class Use {
  readonly job: Job;
  readonly tenant: Tenant;
  readonly events: LeaseEvents;
  readonly begunAt = performance.now();
  #isOutside: boolean;
  /** Started once the run has settled unheld, or was told to end; the child must report `idle` before it fires. */
  #deadline: NodeJS.Timeout | undefined;

  constructor({ job, tenant, outside, events }: WaitingRun) {
    this.job = job;
    this.tenant = tenant;
    this.events = events;
    this.#isOutside = outside;
  }

  /** True if the run holds no place of the pool. */
  get isOutside(): boolean {
    return this.#isOutside;
  }

  get isEnding(): boolean {
    return this.#deadline !== undefined;
  }

  moveOutside(): void {
    this.#isOutside = true;
  }

  /** Calls `giveUp` at the deadline, unless `close` is called before. */
  end(giveUp: () => void): void {
    // If this process was busy, the timer fires before messages that came in time: they are read first.
    this.#deadline ??= setTimeout(() => setImmediate(giveUp), SANDBOX_LIMITS.stopGraceMs);
  }

  close(): void {
    clearTimeout(this.#deadline);
  }
}

/** The use of a child of the pool by one run, and the events that the run receives. */
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
