/**
 * One child of the pool, and what it is at. A child that has run somebody's code is that tenant's from then on: what may be left in it
 * is met by no other tenant.
 */
import { SANDBOX_LIMITS } from '../limits.ts';
import type { Job } from '../protocol.ts';
import type { SandboxChild } from './child-process.ts';
import type { LeaseEvents } from './lease.ts';
import type { InLine, Tenant } from './line.ts';

export interface Entry extends InLine {
  readonly job: Job;
}

export interface Waiting extends Entry {
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

  /** The run that it is at. */
  get use(): Use | undefined {
    return this.#state.kind === 'busy' ? this.#state.use : undefined;
  }

  /** Since when it waits for a run. */
  get freeSince(): number | undefined {
    return this.#state.kind === 'free' ? this.#state.since : undefined;
  }

  /** Not to be given another run: it has served its number of runs, or was worn out. */
  get isSpent(): boolean {
    return this.#isWorn || this.#runs >= SANDBOX_LIMITS.runsPerChild;
  }

  /** What was ended, or was at its limit once, must not burden the next run. */
  wearOut(): void {
    this.#isWorn = true;
  }

  /** It is ready, or its run is over. */
  rest(): void {
    this.use?.close();
    this.#state = { kind: 'free', since: performance.now() };
  }

  begin(waiting: Waiting): Use {
    const use = new Use(waiting);
    this.#runs += 1;
    this.#tenant = waiting.tenant;
    this.#state = { kind: 'busy', use };
    return use;
  }
}

/** One run at one child. */
export class Use {
  readonly job: Job;
  readonly tenant: Tenant;
  readonly events: LeaseEvents;
  readonly begunAt = performance.now();
  #isOutside: boolean;
  /** Set when the run has settled for good, or was told to end: by then the child must have said that it is idle. */
  #deadline: NodeJS.Timeout | undefined;

  constructor({ job, tenant, outside, events }: Waiting) {
    this.job = job;
    this.tenant = tenant;
    this.events = events;
    this.#isOutside = outside;
  }

  /** Whether it holds no place of the pool. */
  get isOutside(): boolean {
    return this.#isOutside;
  }

  get isEnding(): boolean {
    return this.#deadline !== undefined;
  }

  moveOutside(): void {
    this.#isOutside = true;
  }

  /** `giveUp` is called unless it is closed in time. */
  end(giveUp: () => void): void {
    // A timer that is late because this process was busy comes before what the child said in time: that is read first.
    this.#deadline ??= setTimeout(() => setImmediate(giveUp), SANDBOX_LIMITS.stopGraceMs);
  }

  close(): void {
    clearTimeout(this.#deadline);
  }
}
