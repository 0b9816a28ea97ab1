/**
 * The children of one process: one run per child at a time, a fresh isolate per run, one spare kept warm.
 * P1. Runs beyond the pool's size wait in the order in which they came.
 * P2. Runs begun inside a bridged function, and children held for functions of a result, are outside the pool: the
 *     run that waits for them holds a place already. They are bounded, and refused beyond.
 * P3. A child that was killed, crashed, ran out of memory, grew, or served its number of runs is replaced; so is one
 *     whose run was ended from outside or kept its thread busy: what is left of that must not burden the next run.
 */
import { availableParallelism } from 'node:os';
import { SANDBOX_LIMITS } from '../limits.ts';
import type { FromChild, Job, ToChild } from '../protocol.ts';
import { type ChildEnd, type SandboxChild, type SpawnOptions, spawnChild } from './child-process.ts';

/** One run's hold on a child. */
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

export interface PoolOptions extends SpawnOptions {
  /** Runs at a time. Default: the machine's cores, at least 2. */
  readonly size?: number;
}

export interface Pool {
  /** Undefined when the run must not wait and there is no room outside the pool. */
  enter(job: Job, outside: boolean, events: LeaseEvents): Ticket | undefined;
  /** Kills every child; runs under way end as crashed. */
  close(): Promise<void>;
}

interface Member {
  readonly child: SandboxChild;
  readonly ended: Promise<void>;
  ready: boolean;
  idleSince: number;
  runs: number;
  use:
    | { readonly job: Job; readonly events: LeaseEvents; outside: boolean; stopping?: NodeJS.Timeout }
    | undefined;
}

interface Waiting {
  readonly job: Job;
  readonly outside: boolean;
  readonly events: LeaseEvents;
}

export function createPool({
  size = Math.max(2, availableParallelism()),
  ...spawning
}: PoolOptions = {}): Pool {
  const members = new Set<Member>();
  /** Killed on purpose, and not yet gone. */
  const retired = new Set<Member>();
  let line: Waiting[] = [];
  let closed = false;
  let failures = 0;

  const inUse = (outside: boolean) => [...members].filter(({ use }) => use?.outside === outside).length;
  const idle = () => [...members].filter(({ ready, use }) => ready && !use).length;
  const outsideWaiting = () => line.filter(({ outside }) => outside).length;

  const add = () => {
    const child = spawnChild(spawning);
    const ended = Promise.withResolvers<void>();
    const member: Member = {
      child,
      ended: ended.promise,
      ready: false,
      idleSince: 0,
      runs: 0,
      use: undefined,
    };
    members.add(member);
    child.onMessage = (message) => onMessage(member, message);
    child.onEnd = (end) => {
      ended.resolve();
      remove(member, end);
    };
  };
  const remove = (member: Member, end: ChildEnd) => {
    retired.delete(member);
    if (!members.delete(member)) return;
    const { use } = member;
    clearTimeout(use?.stopping);
    use?.events.onEnd(end);
    if (!member.ready) {
      // Children that cannot even start would otherwise be started for ever.
      failures += 1;
      if (failures >= 3) return refuseAll(end);
    }
    fill();
  };
  const refuseAll = (end: ChildEnd) => {
    const refused = line;
    line = [];
    failures = 0;
    for (const { events } of refused) events.onEnd(end);
  };
  const onMessage = (member: Member, message: FromChild) => {
    if (message.kind === 'ready') {
      member.ready = true;
      failures = 0;
      return fill();
    }
    if (member.use?.job.id !== message.run) return;
    if (message.kind !== 'idle') {
      // An engine that was at its limit once, or whose thread was still busy, is not asked to go on.
      if (message.kind === 'settled') {
        if (message.memoryUsedBytes === undefined) wearOut(member);
        // The result is here; the code may keep the thread busy all the same.
        if (message.settlement.status !== 'success' || !message.settlement.held)
          awaitIdle(member, member.use);
      }
      return member.use.events.onMessage(message);
    }
    clearTimeout(member.use.stopping);
    member.use = undefined;
    member.idleSince = performance.now();
    const worn =
      member.runs >= SANDBOX_LIMITS.runsPerChild || message.rssBytes > SANDBOX_LIMITS.childRestingBytes;
    // As many as may run, and the spare: what rests beyond served nested runs.
    if (worn || idle() > size + 1) retire(member);
    fill();
  };
  const retire = (member: Member) => {
    members.delete(member);
    retired.add(member);
    member.child.kill();
  };
  const wearOut = (member: Member) => {
    member.runs = Number.POSITIVE_INFINITY;
  };
  const awaitIdle = (member: Member, use: NonNullable<Member['use']>) => {
    const giveUp = () => {
      if (member.use !== use) return;
      // Out of the pool first: what it may still say of being idle is not to be believed.
      retire(member);
      fill();
    };
    // A timer that is late because this process was busy comes before what the child said in time: that is read first.
    use.stopping ??= setTimeout(() => setImmediate(giveUp), SANDBOX_LIMITS.stopGraceMs);
  };
  const begin = (member: Member, { job, outside, events }: Waiting) => {
    member.runs += 1;
    const use: NonNullable<Member['use']> = { job, events, outside };
    member.use = use;
    events.onLease({
      send: (message) => {
        if (member.use === use) member.child.send(message);
      },
      stop() {
        if (member.use !== use || use.stopping) return;
        // What was ended may take a while to let go of its thread and memory; another run must not pay for it.
        wearOut(member);
        awaitIdle(member, use);
        member.child.send({ kind: 'stop', run: job.id });
      },
      hold() {
        if (!use.outside && inUse(true) + outsideWaiting() >= SANDBOX_LIMITS.outsidePool) return false;
        use.outside = true;
        fill();
        return true;
      },
    });
    member.child.send({ kind: 'run', job });
  };
  /** Gives children to those who wait, and keeps one spare beyond. */
  const fill = () => {
    if (closed) return;
    for (let next = nextInLine(); next; next = nextInLine()) {
      // The one that has rested longest has its next isolate made.
      const free = [...members]
        .filter(({ ready, use }) => ready && !use)
        .sort((a, b) => a.idleSince - b.idleSince)[0];
      if (!free) break;
      line = line.filter((each) => each !== next);
      begin(free, next);
    }
    const starting = [...members].filter(({ ready }) => !ready).length;
    const runnable =
      Math.min(line.filter(({ outside }) => !outside).length, size - inUse(false)) + outsideWaiting();
    for (let missing = Math.max(1, runnable) - starting - idle(); missing > 0; missing -= 1) add();
    // Only children that somebody waits for keep this process alive.
    for (const { child, use, ready } of members) {
      if (use || (!ready && line.length > 0)) child.ref();
      else child.unref();
    }
  };
  const nextInLine = () => {
    const room = inUse(false) < size;
    return line.find(({ outside }) => outside || room);
  };

  return {
    enter(job, outside, events) {
      if (closed) {
        events.onEnd({ kind: 'crashed', how: 'the sandbox is closed' });
        return { cancel: () => undefined };
      }
      if (outside && inUse(true) + outsideWaiting() >= SANDBOX_LIMITS.outsidePool) return undefined;
      const waiting: Waiting = { job, outside, events };
      line.push(waiting);
      fill();
      return {
        cancel() {
          line = line.filter((each) => each !== waiting);
        },
      };
    },
    async close() {
      closed = true;
      const all = [...members, ...retired];
      for (const { child } of all) {
        // Their end is waited for, so now they do keep this process alive.
        child.ref();
        child.kill();
      }
      refuseAll({ kind: 'crashed', how: 'the sandbox is closed' });
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}
