/**
 * One child of the pool, and what it is at: starting, free, or at a run. A child that has run somebody's code is that tenant's
 * from then on: what may be left in it is met by nobody else.
 */
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

export interface Use {
  readonly job: Job;
  readonly tenant: Tenant;
  readonly events: LeaseEvents;
  readonly begunAt: number;
  outside: boolean;
  stopping?: NodeJS.Timeout;
}

export class Member {
  readonly child: SandboxChild;
  readonly ended = Promise.withResolvers<void>();
  ready = false;
  /** Undefined until the first run. */
  tenant: Tenant | undefined;
  idleSince = 0;
  runs = 0;
  use: Use | undefined;

  constructor(child: SandboxChild) {
    this.child = child;
  }

  get free(): boolean {
    return this.ready && !this.use;
  }

  /** Not given another run: what was ended, or was at its limit once, must not burden the next. */
  wearOut(): void {
    this.runs = Number.POSITIVE_INFINITY;
  }

  begin({ job, tenant, outside, events }: Waiting): Use {
    this.runs += 1;
    this.tenant = tenant;
    const use: Use = { job, tenant, events, outside, begunAt: performance.now() };
    this.use = use;
    return use;
  }

  rest(): void {
    clearTimeout(this.use?.stopping);
    this.use = undefined;
    this.idleSince = performance.now();
  }
}

/** So long after a run a child may still be making its next isolate. */
const FRESH_ISOLATE_MS = 20;

/**
 * The tenant's own that has rested longest, so that its next isolate is made; else one that has served nobody. Such a one comes
 * first, too, while the tenant has few of its own and the next isolate would have to be waited for.
 */
export function memberFor(members: Iterable<Member>, tenant: Tenant, most: number): Member | undefined {
  const all = [...members];
  const own = all.filter((each) => each.tenant === tenant);
  const rested = own.filter(({ free }) => free).sort((a, b) => a.idleSince - b.idleSince)[0];
  const unused = all.find(({ free, tenant: served }) => free && served === undefined);
  if (!rested || !unused) return rested ?? unused;
  return own.length < most && performance.now() - rested.idleSince < FRESH_ISOLATE_MS ? unused : rested;
}

/** Children without a run, starting or at rest, that are too many: those of tenants first, the longest unused before all. */
export function surplus(members: Iterable<Member>, most: number): Member[] {
  const free = [...members].filter(({ use }) => !use);
  const order = (member: Member) =>
    member.tenant === undefined ? Number.POSITIVE_INFINITY : member.idleSince;
  return free.sort((a, b) => (order(a) < order(b) ? -1 : 1)).slice(0, Math.max(0, free.length - most));
}
