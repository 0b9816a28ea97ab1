/**
 * Checks that a child keeps to the protocol: a state machine per child, which sees the messages of both directions. A
 * child that violates it has been taken over, because its own code never does.
 * - `ready` comes once and first; `settled` once per run; `idle` if a run has settled and is not held, or must stop.
 * - Ids of calls increase, and pending calls are bounded; every answer is to a call that was made.
 * - Messages in transit when a run ended are dropped; more of them than can have been in transit are a violation.
 */
import { type Wire, wireBytes } from '../codec/wire.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import type { Crossing, FromChild, ToChild } from '../protocol.ts';

type FromRun = Exclude<FromChild, { kind: 'ready' }>;
type Verdict = 'pass' | 'drop';

/** `receive` throws if the child may not send the message. */
export class ProtocolChecker {
  #phase: 'starting' | 'ready' = 'starting';
  #latest = 0;
  /** Number of messages about ended runs since the latest run began. */
  #stale = 0;
  #run: RunProtocolChecker | undefined;

  /** Records a message from the host. */
  tell(message: ToChild): void {
    if (message.kind === 'run') {
      const { id } = message.job;
      this.#run = new RunProtocolChecker(id);
      this.#latest = Math.max(this.#latest, id);
      this.#stale = 0;
    } else if (message.run === this.#run?.id) this.#run.tell(message);
  }

  /** Checks a message from the child: returns whether to pass it on, and throws if it violates the protocol. */
  receive(message: FromChild): Verdict {
    if (message.kind === 'ready') {
      if (this.#phase === 'ready') throwViolation('`ready` twice');
      this.#phase = 'ready';
      return 'pass';
    }
    if (this.#phase === 'starting') throwViolation('a message before `ready`');
    const verdict = message.run === this.#run?.id ? this.#run.receive(message) : this.#checkStale(message);
    if (message.kind === 'idle') this.#run = undefined;
    if (verdict === 'drop') this.#countStale();
    return verdict;
  }

  #checkStale(message: FromRun): Verdict {
    if (message.run > this.#latest || message.kind === 'idle')
      throwViolation('a message of a run that is not its own');
    return 'drop';
  }

  #countStale(): void {
    this.#stale += 1;
    if (this.#stale > SANDBOX_LIMITS.staleMessages)
      throwViolation('more messages of ended runs than can have been in flight');
  }
}

class RunProtocolChecker {
  readonly id: number;
  /** `held`: its result has functions, which may be called. */
  #phase: 'running' | 'held' | 'settled' = 'running';
  /** True once the run was told to stop, in whichever phase. */
  #stopping = false;
  /** The child's calls that the host has not answered: bytes by id. */
  readonly #calls = new Map<number, number>();
  #lastCall = 0;
  #callBytes = 0;
  /** Ids of the host's calls that the child has not answered. */
  readonly #asked = new Set<number>();

  constructor(id: number) {
    this.id = id;
  }

  tell(message: Exclude<ToChild, { kind: 'run' }>): void {
    if (message.kind === 'stop') this.#stopping = true;
    if (message.kind !== 'crossing') return;
    const { crossing } = message;
    if (crossing.kind === 'call') return void this.#asked.add(crossing.id);
    this.#callBytes -= this.#calls.get(crossing.id) ?? 0;
    this.#calls.delete(crossing.id);
  }

  receive(message: FromRun): Verdict {
    switch (message.kind) {
      case 'idle':
        if (this.#phase !== 'settled' && !this.#stopping) throwViolation('`idle` before its run had settled');
        return 'pass';
      case 'settled': {
        if (this.#phase !== 'running') throwViolation('`settled` twice');
        const { settlement } = message;
        this.#phase = settlement.status === 'success' && settlement.held ? 'held' : 'settled';
        return 'pass';
      }
      default:
        if (this.#phase === 'settled') return 'drop';
        if (message.kind === 'crossing') this.#checkCrossing(message.crossing);
        return 'pass';
    }
  }

  #checkCrossing(crossing: Crossing): void {
    if (crossing.kind === 'answer') {
      if (!this.#asked.delete(crossing.id)) throwViolation('an answer to an unknown call');
      return;
    }
    if (crossing.id <= this.#lastCall) throwViolation('two calls under one id');
    if (!this.#hasRoom(crossing.wire)) throwViolation('more pending calls than allowed');
    this.#lastCall = crossing.id;
    this.#calls.set(crossing.id, wireBytes(crossing.wire));
    this.#callBytes += wireBytes(crossing.wire);
  }

  /** Twice the guest's own limits: it may have miscounted a call that failed because the stack was exhausted. */
  #hasRoom(wire: Wire): boolean {
    const { callsInFlight, callsInFlightBytes } = SANDBOX_LIMITS;
    const bytes = this.#callBytes + wireBytes(wire);
    return this.#calls.size < 2 * callsInFlight && bytes <= 2 * callsInFlightBytes;
  }
}

function throwViolation(what: string): never {
  throw new Error(what);
}
