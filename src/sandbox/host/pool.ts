/**
 * The children of one process: one run per child at a time, a fresh isolate per run, a spare kept warm.
 * P1. Runs beyond the pool's size wait, and tenants take turns (`line.ts`).
 * P2. Runs begun inside a bridged function, and children held for functions of a result, are outside the pool: the
 *     run that waits for them holds a place already. They are bounded, and refused beyond.
 * P3. A child serves one tenant. Others are started ahead for those who come next, in the background.
 * P4. A child that was killed, crashed, ran out of memory, grew, or served its number of runs is replaced; so is one
 *     whose run was ended from outside or kept its thread busy: what is left of that must not burden the next run.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { availableParallelism } from 'node:os';
import { SANDBOX_LIMITS } from '../limits.ts';
import type { FromChild } from '../protocol.ts';
import { type ChildEnd, type SpawnOptions, spawnChild } from './child-process.ts';
import type { Lease, LeaseEvents, Ticket } from './lease.ts';
import { Ledger } from './ledger.ts';
import { Line, type Places, type Tenant } from './line.ts';
import { type Entry, Member, memberFor, surplus, type Use, type Waiting } from './member.ts';

export interface PoolOptions extends SpawnOptions {
  /** Runs at a time. Default: the machine's cores, at least 2. */
  readonly size?: number;
}

type Settled = Extract<FromChild, { kind: 'settled' }>;

/** Children that cannot even start would otherwise be started for ever. */
const FAILED_STARTS = 3;
const CLOSED: ChildEnd = { kind: 'crashed', how: 'the sandbox is closed' };

export class Pool {
  /** Of what the runs keep in this process. */
  readonly ledger = new Ledger();
  readonly #size: number;
  readonly #spawning: SpawnOptions;
  readonly #members = new Set<Member>();
  /** Killed on purpose, and not yet gone. */
  readonly #retired = new Set<Member>();
  readonly #line = new Line<Waiting>();
  /** A child outlives the run that it was made for: its events are nobody's but the pool's. */
  readonly #outside = AsyncLocalStorage.snapshot();
  #closed = false;
  #failures = 0;
  #later: NodeJS.Timeout | undefined;

  constructor({ size = Math.max(2, availableParallelism()), ...spawning }: PoolOptions = {}) {
    this.#size = size;
    this.#spawning = spawning;
  }

  /** Undefined when the run must not wait and there is no room outside the pool. */
  enter(entry: Entry, events: LeaseEvents): Ticket | undefined {
    if (this.#closed) {
      events.onEnd(CLOSED);
      return { cancel: () => undefined };
    }
    if (entry.outside && !this.#hasRoomOutside()) return undefined;
    const waiting: Waiting = { ...entry, events };
    this.#line.join(waiting);
    this.#fill();
    return { cancel: () => this.#line.leave(waiting) };
  }

  /** No more runs of this tenant will come: children that rest for it are of no use. */
  dismiss(tenant: Tenant): void {
    for (const member of this.#members) {
      if (member.tenant !== tenant) continue;
      if (member.use) member.wearOut();
      else this.#retire(member);
    }
  }

  /** Kills every child; runs under way end as crashed. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#later);
    const all = [...this.#members, ...this.#retired];
    for (const { child } of all) {
      // Their end is waited for, so now they do keep this process alive.
      child.ref();
      child.kill();
    }
    this.#refuseAll(CLOSED);
    await Promise.all(all.map(({ ended }) => ended.promise));
  }

  #add(): void {
    const member = new Member(this.#outside(() => spawnChild(this.#spawning)));
    this.#members.add(member);
    member.child.onMessage = (message) => this.#onMessage(member, message);
    member.child.onEnd = (end) => {
      member.ended.resolve();
      this.#remove(member, end);
    };
  }

  #remove(member: Member, end: ChildEnd): void {
    this.#retired.delete(member);
    if (!this.#members.delete(member)) return;
    clearTimeout(member.use?.stopping);
    member.use?.events.onEnd(end);
    if (!member.ready) this.#failures += 1;
    if (this.#failures >= FAILED_STARTS) this.#refuseAll(end);
    else this.#fill();
  }

  #refuseAll(end: ChildEnd): void {
    this.#failures = 0;
    for (const waiting of this.#line.waiters) {
      this.#line.leave(waiting);
      waiting.events.onEnd(end);
    }
  }

  #retire(member: Member): void {
    this.#members.delete(member);
    this.#retired.add(member);
    member.child.kill();
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
    member.ready = true;
    this.#failures = 0;
    this.#fill();
  }

  #onSettled(member: Member, use: Use, { settlement, memoryUsedBytes }: Settled): void {
    // An engine that was at its limit once, or whose thread was still busy, is not asked to go on.
    if (memoryUsedBytes === undefined) member.wearOut();
    // The result is here; the code may keep the thread busy all the same.
    if (settlement.status !== 'success' || !settlement.held) this.#awaitIdle(member, use);
  }

  #onIdle(member: Member, use: Use, rssBytes: number): void {
    // Asked for by nobody: whoever waits for this run would wait for ever.
    const lied = use.stopping === undefined;
    member.rest();
    const { runsPerChild, childRestingBytes } = SANDBOX_LIMITS;
    if (lied || member.runs >= runsPerChild || rssBytes > childRestingBytes) this.#retire(member);
    if (lied) use.events.onEnd({ kind: 'crashed', how: 'it said that it was idle before the run had ended' });
    this.#fill();
  }

  #awaitIdle(member: Member, use: Use): void {
    const giveUp = () => {
      if (member.use !== use) return;
      // Out of the pool first: what it may still say of being idle is not to be believed.
      this.#retire(member);
      this.#fill();
    };
    // A timer that is late because this process was busy comes before what the child said in time: that is read first.
    use.stopping ??= setTimeout(() => setImmediate(giveUp), SANDBOX_LIMITS.stopGraceMs);
  }

  #begin(member: Member, waiting: Waiting): void {
    this.#line.serve(waiting);
    const use = member.begin(waiting);
    waiting.events.onLease(this.#lease(member, use));
    member.child.send({ kind: 'run', job: waiting.job });
  }

  #lease(member: Member, use: Use): Lease {
    return {
      send: (message) => void (member.use === use && member.child.send(message)),
      stop: () => {
        if (member.use !== use || use.stopping) return;
        // What was ended may take a while to let go of its thread and memory; another run must not pay for it.
        member.wearOut();
        this.#awaitIdle(member, use);
        member.child.send({ kind: 'stop', run: use.job.id });
      },
      hold: () => {
        if (!use.outside && !this.#hasRoomOutside()) return false;
        use.outside = true;
        this.#fill();
        return true;
      },
    };
  }

  /** Gives children to those who wait, starts what is missing and one spare, and lets go of what rests beyond. */
  #fill(): void {
    if (this.#closed) return;
    const missing = this.#serve();
    const unused = [...this.#members].filter(({ tenant }) => tenant === undefined).length;
    for (let more = Math.max(1, missing) - unused; more > 0; more -= 1) this.#add();
    for (const member of surplus(this.#members, Math.max(missing, this.#size + 1))) this.#retire(member);
    const waits = this.#line.waiters.length > 0;
    // Only children that somebody waits for keep this process alive.
    for (const { child, use, ready } of this.#members) {
      if (use || (!ready && waits)) child.ref();
      else child.unref();
    }
    this.#lookAgain(waits);
  }

  /** Answers how many might begin but for a child. A place is kept for them while theirs start. */
  #serve(): number {
    const passed = new Set<Waiting>();
    const kept = new Map<Tenant, number>();
    for (;;) {
      const next = this.#line.next(this.#places(kept), passed);
      if (!next) return passed.size;
      const member = memberFor(this.#members, next.tenant, this.#size);
      if (member) {
        this.#begin(member, next);
        continue;
      }
      passed.add(next);
      if (!next.outside) kept.set(next.tenant, (kept.get(next.tenant) ?? 0) + 1);
    }
  }

  #places(kept: ReadonlyMap<Tenant, number>): Places {
    const taken = new Map(kept);
    const uses = [...this.#members].flatMap(({ use }) => (use && !use.outside ? [use] : []));
    for (const { tenant } of uses) taken.set(tenant, (taken.get(tenant) ?? 0) + 1);
    const long = uses.filter(({ begunAt }) => performance.now() - begunAt >= SANDBOX_LIMITS.longRunMs).length;
    return { size: this.#size, taken, long };
  }

  /** Places grow old while others wait, and nothing else would say so. */
  #lookAgain(waits: boolean): void {
    clearTimeout(this.#later);
    if (!waits) return;
    const ages = [...this.#members].flatMap(({ use }) => (use ? [performance.now() - use.begunAt] : []));
    const young = ages.filter((age) => age < SANDBOX_LIMITS.longRunMs);
    if (young.length === 0) return;
    this.#later = setTimeout(
      () => this.#fill(),
      Math.ceil(SANDBOX_LIMITS.longRunMs - Math.max(...young)) + 1,
    );
  }

  #hasRoomOutside(): boolean {
    const outside = [...this.#members].filter(({ use }) => use?.outside).length;
    return outside + this.#line.outside < SANDBOX_LIMITS.outsidePool;
  }
}
