/**
 * The children of one process: one run per child at a time, a fresh isolate per run, and by default one spare child.
 * - Runs beyond the pool's size wait, and tenants take turns (`run-queue.ts`).
 * - Runs begun inside a bridged function, and children held for functions of a result, are outside the pool. The run
 *   that waits for them already holds a place. Their number is limited; beyond it they are refused.
 * - A child serves one tenant. Others are started ahead in the background, for the tenants that come next.
 * - A child is replaced if it was killed, crashed, ran out of memory, grew, or served its maximum of runs. So is one
 *   whose run was ended from outside or kept its thread busy: what is left of that run must not burden the next.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { availableParallelism } from 'node:os';
import { SANDBOX_LIMITS } from '../limits.ts';
import type { FromChild } from '../protocol.ts';
import { type ChildEnd, SandboxChild, type SpawnOptions } from './child-process.ts';
import { Ledger } from './ledger.ts';
import {
  type Entry,
  type Lease,
  type LeaseEvents,
  Member,
  type Ticket,
  type Use,
  type WaitingRun,
} from './member.ts';
import { type PoolPlaces, RunQueue, type Tenant } from './run-queue.ts';

export interface PoolOptions extends SpawnOptions {
  /** Maximum of concurrent runs. Default: the machine's cores, at least 2. */
  readonly size?: number;
  /** Whether an unused child is kept ready for the next tenant. Default: true; of no use where one program runs alone. */
  readonly spare?: boolean;
}

type Settled = Extract<FromChild, { kind: 'settled' }>;

/** Failed starts in a row after which waiting runs are refused; otherwise children would be started forever. */
const MAX_FAILED_STARTS = 3;
const CLOSED: ChildEnd = { kind: 'crashed', how: 'the sandbox is closed' };

export class Pool {
  /** Accounts for the memory that runs hold in this process. */
  readonly ledger = new Ledger();
  readonly #size: number;
  readonly #spares: number;
  readonly #spawning: SpawnOptions;
  readonly #roster = new Roster();
  readonly #queue = new RunQueue<WaitingRun>();
  /** The pool's async context, in which events of children are handled: a child outlives the run that it was started for. */
  readonly #inPoolContext = AsyncLocalStorage.snapshot();
  #closed = false;
  /** Children in a row that ended before they were ready. */
  #failures = 0;
  #fillTimer: NodeJS.Timeout | undefined;

  constructor({ size = Math.max(2, availableParallelism()), spare = true, ...spawning }: PoolOptions = {}) {
    this.#size = size;
    this.#spares = spare ? 1 : 0;
    this.#spawning = spawning;
  }

  get figures() {
    const { all, uses } = this.#roster;
    return { children: all.length, running: uses.length, waiting: this.#queue.waiters.length };
  }

  /** Queues a run. Returns undefined if it belongs outside the pool and there is no room there. */
  enter(entry: Entry, events: LeaseEvents): Ticket | undefined {
    if (this.#closed) {
      events.onEnd(CLOSED);
      return { cancel: () => undefined };
    }
    if (entry.outside && !this.#hasRoomOutside()) return undefined;
    const waiting: WaitingRun = { ...entry, events };
    this.#queue.join(waiting);
    this.#fill();
    return { cancel: () => this.#queue.leave(waiting) };
  }

  /** Ends idle children of a tenant of which no more runs will come, and excludes its busy ones from later runs. */
  dismiss(tenant: Tenant): void {
    for (const member of this.#roster.serving) {
      if (member.tenant !== tenant) continue;
      if (member.use) member.wearOut();
      else this.#roster.retire(member);
    }
  }

  /** Kills every child; runs under way end as crashed. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#fillTimer);
    const all = this.#roster.all;
    for (const { child } of all) {
      // Their end is awaited, so from now on they must keep this process alive.
      child.ref();
      child.kill();
    }
    this.#refuseAll(CLOSED);
    await Promise.all(all.map(({ ended }) => ended.promise));
  }

  #add(): void {
    const member = new Member(this.#inPoolContext(() => new SandboxChild(this.#spawning)));
    this.#roster.add(member);
    member.child.onMessage = (message) => this.#onMessage(member, message);
    member.child.onEnd = (end) => {
      member.ended.resolve();
      this.#onEnd(member, end);
    };
  }

  #onEnd(member: Member, end: ChildEnd): void {
    if (!this.#roster.remove(member)) return;
    member.use?.close();
    member.use?.events.onEnd(end);
    if (member.isStarting) this.#failures += 1;
    if (end.kind === 'absent' || this.#failures >= MAX_FAILED_STARTS) this.#refuseAll(end);
    else this.#fill();
  }

  #refuseAll(end: ChildEnd): void {
    this.#failures = 0;
    for (const waiting of this.#queue.waiters) {
      this.#queue.leave(waiting);
      waiting.events.onEnd(end);
    }
  }

  #onMessage(member: Member, message: FromChild): void {
    const { use } = member;
    if (message.kind === 'ready') this.#onReady(member);
    else if (use?.job.id !== message.run) return;
    else if (message.kind === 'idle') this.#onIdle(member, use, message.rssBytes);
    else {
      if (message.kind === 'settled') this.#onSettled(member, use, message);
      use.events.onMessage(message);
    }
  }

  #onReady(member: Member): void {
    member.rest();
    this.#failures = 0;
    this.#fill();
  }

  #onSettled(member: Member, use: Use, { settlement, memoryUsedBytes }: Settled): void {
    // An engine that reached its limit once, or whose thread was still busy, is not reused.
    if (memoryUsedBytes === undefined) member.wearOut();
    // The result has arrived, but the code may still keep the thread busy.
    if (settlement.status !== 'success' || !settlement.held) this.#awaitIdle(member, use);
  }

  #onIdle(member: Member, use: Use, rssBytes: number): void {
    // `idle` before the run is ending violates the protocol: without this, the caller of the run would wait forever.
    const lied = !use.isEnding;
    member.rest();
    if (lied || member.isSpent || rssBytes > SANDBOX_LIMITS.childRestingBytes) this.#roster.retire(member);
    if (lied)
      use.events.onEnd({ kind: 'crashed', how: 'it reported that it was idle before the run had ended' });
    this.#fill();
  }

  #awaitIdle(member: Member, use: Use): void {
    use.end(() => {
      if (member.use !== use) return;
      // Removed from the pool first: its `idle` may still come, and must be ignored.
      this.#roster.retire(member);
      this.#fill();
    });
  }

  #begin(member: Member, waiting: WaitingRun): void {
    this.#queue.serve(waiting);
    const use = member.begin(waiting);
    waiting.events.onLease(this.#lease(member, use));
    member.child.send({ kind: 'run', job: waiting.job });
  }

  #lease(member: Member, use: Use): Lease {
    return {
      send: (message) => void (member.use === use && member.child.send(message)),
      stop: () => {
        if (member.use !== use || use.isEnding) return;
        // An ended run may take a while to free its thread and memory; another run must not be affected.
        member.wearOut();
        this.#awaitIdle(member, use);
        member.child.send({ kind: 'stop', run: use.job.id });
      },
      hold: () => {
        if (!use.isOutside && !this.#hasRoomOutside()) return false;
        use.moveOutside();
        this.#fill();
        return true;
      },
    };
  }

  /** Assigns children to waiting runs, starts those that are missing and the spare, and ends surplus idle ones. */
  #fill(): void {
    if (this.#closed) return;
    const missing = this.#assignChildren();
    for (let more = Math.max(this.#spares, missing) - this.#roster.unused; more > 0; more -= 1) this.#add();
    for (const member of this.#roster.surplus(Math.max(missing, this.#size + 1))) this.#roster.retire(member);
    const waits = this.#queue.waiters.length > 0;
    // Only children with a run, or awaited by one, keep this process alive.
    for (const { child, use, isStarting } of this.#roster.serving) {
      if (use || (isStarting && waits)) child.ref();
      else child.unref();
    }
    this.#scheduleFill(waits);
  }

  /** Returns how many runs could begin but for a child. A place is reserved for them while their children start. */
  #assignChildren(): number {
    const passed = new Set<WaitingRun>();
    const kept = new Map<Tenant, number>();
    for (;;) {
      const next = this.#queue.next(this.#places(kept), passed);
      if (!next) return passed.size;
      const member = this.#roster.freeFor(next.tenant, this.#size);
      if (member) {
        this.#begin(member, next);
        continue;
      }
      passed.add(next);
      if (!next.outside) kept.set(next.tenant, (kept.get(next.tenant) ?? 0) + 1);
    }
  }

  #places(kept: ReadonlyMap<Tenant, number>): PoolPlaces {
    const taken = new Map(kept);
    const inside = this.#roster.uses.filter(({ isOutside }) => !isOutside);
    for (const { tenant } of inside) taken.set(tenant, (taken.get(tenant) ?? 0) + 1);
    const long = inside.filter(
      ({ begunAt }) => performance.now() - begunAt >= SANDBOX_LIMITS.longRunMs,
    ).length;
    return { size: this.#size, taken, long };
  }

  /** Schedules the next `#fill` for when a place becomes a long one: no other event triggers it. */
  #scheduleFill(waits: boolean): void {
    clearTimeout(this.#fillTimer);
    const { nextLongAge } = this.#roster;
    if (!waits || nextLongAge === undefined) return;
    this.#fillTimer = setTimeout(() => this.#fill(), Math.ceil(SANDBOX_LIMITS.longRunMs - nextLongAge) + 1);
  }

  #hasRoomOutside(): boolean {
    return this.#roster.outside + this.#queue.outside < SANDBOX_LIMITS.outsidePool;
  }
}

/**
 * The children of one pool, in service or killed on purpose and not ended yet, and the choice among them. Milliseconds
 * after a run in which a child may still be making its next isolate.
 */
const FRESH_ISOLATE_MS = 20;

class Roster {
  readonly #serving = new Set<Member>();
  readonly #retired = new Set<Member>();

  get serving(): readonly Member[] {
    return [...this.#serving];
  }

  get all(): readonly Member[] {
    return [...this.#serving, ...this.#retired];
  }

  get uses(): readonly Use[] {
    return this.serving.flatMap(({ use }) => use ?? []);
  }

  /** Number of children that have served no tenant, starting or ready. */
  get unused(): number {
    return this.serving.filter(({ tenant }) => tenant === undefined).length;
  }

  /** Number of runs outside the pool. One that is ending has already left its room to another. */
  get outside(): number {
    return this.uses.filter(({ isOutside, isEnding }) => isOutside && !isEnding).length;
  }

  /** Age in milliseconds of the run that will be a long one next; undefined if there is none. */
  get nextLongAge(): number | undefined {
    const ages = this.uses.map(({ begunAt }) => performance.now() - begunAt);
    const young = ages.filter((age) => age < SANDBOX_LIMITS.longRunMs);
    return young.length === 0 ? undefined : Math.max(...young);
  }

  add(member: Member): void {
    this.#serving.add(member);
  }

  /** Removes a child that has ended. Returns whether it was still in service. */
  remove(member: Member): boolean {
    this.#retired.delete(member);
    return this.#serving.delete(member);
  }

  /** Kills a child that is no longer needed. Its further messages are ignored. */
  retire(member: Member): void {
    this.#serving.delete(member);
    this.#retired.add(member);
    member.child.kill();
  }

  /**
   * Returns the tenant's child that has been free longest, so that its next isolate is made; else an unused one. An
   * unused one is preferred if the tenant has fewer than `most`, and its own may still be making their isolates.
   */
  freeFor(tenant: Tenant, most: number): Member | undefined {
    const own = this.serving.filter((each) => each.tenant === tenant);
    const rested = own.filter(isFree).sort(byFreeSince)[0];
    const unused = this.serving.find((each) => isFree(each) && each.tenant === undefined);
    if (!rested || !unused) return rested ?? unused;
    const isFresh = performance.now() - (rested.freeSince ?? 0) < FRESH_ISOLATE_MS;
    return own.length < most && isFresh ? unused : rested;
  }

  /** Returns idle or starting children beyond `most`: those of tenants first, and of these the longest free. */
  surplus(most: number): readonly Member[] {
    const idle = this.serving.filter(({ use }) => !use);
    const used = idle.filter(({ tenant }) => tenant !== undefined).sort(byFreeSince);
    const unused = idle.filter(({ tenant }) => tenant === undefined);
    return [...used, ...unused].slice(0, Math.max(0, idle.length - most));
  }
}

const isFree = ({ freeSince }: Member): boolean => freeSince !== undefined;

const byFreeSince = (one: Member, other: Member): number => (one.freeSince ?? 0) - (other.freeSince ?? 0);
