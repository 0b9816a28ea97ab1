/**
 * Whether a child may say what it says now. One state a child, told of both directions; a child that speaks out of
 * turn is lying, for its own code never does.
 * - `ready` once and first; `settled` once a run; `idle` when a run has settled for good, or was told to stop.
 * - Calls have ids that grow, and are bounded while they are under way; answers are to calls that were made.
 * - What was on its way when a run ended is dropped; more of it than can have been on its way is a lie.
 */
import { type Wire, wireBytes } from '../codec/wire.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import type { Crossing, FromChild, ToChild } from '../protocol.ts';

export interface Conduct {
  /** The host says this. */
  told(message: ToChild): void;
  /** The child says this: whether it is to be passed on. Throws when it may not say it. */
  heard(message: FromChild): 'pass' | 'drop';
}

interface Run {
  readonly id: number;
  phase: 'running' | 'held' | 'settled';
  stopping: boolean;
  /** The child's calls that the host has not answered, with what they carry. */
  readonly calls: Map<number, number>;
  lastCall: number;
  callBytes: number;
  /** The host's calls that the child has not answered. */
  readonly asked: Set<number>;
}

export function createConduct(): Conduct {
  let ready = false;
  let latest = 0;
  let stale = 0;
  let run: Run | undefined;

  const drop = () => {
    stale += 1;
    if (stale > SANDBOX_LIMITS.staleMessages)
      lies('more of runs that have ended than can have been on its way');
    return 'drop' as const;
  };
  const heardOfRun = (current: Run, message: Exclude<FromChild, { kind: 'ready' }>) => {
    if (message.kind === 'idle') {
      if (current.phase !== 'settled' && !current.stopping)
        lies('that it was idle before its run had settled');
      run = undefined;
      return 'pass';
    }
    if (message.kind === 'settled') {
      if (current.phase !== 'running') lies('twice that its run had settled');
      const { settlement } = message;
      current.phase = settlement.status === 'success' && settlement.held ? 'held' : 'settled';
      return 'pass';
    }
    if (current.phase === 'settled') return drop();
    if (message.kind === 'crossing') hear(current, message.crossing);
    return 'pass';
  };
  return {
    told(message) {
      if (message.kind === 'run') {
        const { id } = message.job;
        run = newRun(id);
        [latest, stale] = [Math.max(latest, id), 0];
      } else if (message.run === run?.id) tell(run, message);
    },
    heard(message) {
      if (message.kind === 'ready') {
        if (ready) lies('twice that it was ready');
        ready = true;
        return 'pass';
      }
      if (!ready) lies('something before it was ready');
      if (message.run === run?.id) return heardOfRun(run, message);
      if (message.run > latest || message.kind === 'idle') lies('something of a run that is not its own');
      return drop();
    },
  };
}

function newRun(id: number): Run {
  return {
    id,
    phase: 'running',
    stopping: false,
    calls: new Map(),
    lastCall: 0,
    callBytes: 0,
    asked: new Set(),
  };
}

function tell(run: Run, message: Exclude<ToChild, { kind: 'run' }>): void {
  if (message.kind === 'stop') run.stopping = true;
  if (message.kind !== 'crossing') return;
  const { crossing } = message;
  if (crossing.kind === 'call') return void run.asked.add(crossing.id);
  run.callBytes -= run.calls.get(crossing.id) ?? 0;
  run.calls.delete(crossing.id);
}

function hear(run: Run, crossing: Crossing): void {
  if (crossing.kind === 'answer') {
    if (!run.asked.delete(crossing.id)) lies('an answer to what it was not asked');
    return;
  }
  if (crossing.id <= run.lastCall) lies('two calls under one id');
  if (!hasRoom(run, crossing.wire)) lies('more calls than may be under way');
  run.lastCall = crossing.id;
  run.calls.set(crossing.id, wireBytes(crossing.wire));
  run.callBytes += wireBytes(crossing.wire);
}

/** Twice what the guest allows itself: it may have miscounted a call that failed where the code's stack ended. */
function hasRoom({ calls, callBytes }: Run, wire: Wire): boolean {
  const { callsInFlight, callsInFlightBytes } = SANDBOX_LIMITS;
  return calls.size < 2 * callsInFlight && callBytes + wireBytes(wire) <= 2 * callsInFlightBytes;
}

function lies(what: string): never {
  throw new Error(what);
}
