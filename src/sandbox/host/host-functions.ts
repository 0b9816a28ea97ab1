/**
 * Functions across the boundary, on the host's side (§13.3). The code calls the host's functions by id, without `this`
 * and with nothing but its arguments; the code's functions are async proxies here. Limits that the sandbox observes by
 * itself (number of pending calls, ids in use) are enforced here again.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { errorMessage } from '../../core/value/error.ts';
import { encode } from '../codec/encode.ts';
import { estimateMemory, type FunctionTable, type Wire } from '../codec/wire.ts';
import { SANDBOX_LIMITS, TRANSFER } from '../limits.ts';
import type { Crossing } from '../protocol.ts';
import type { Intake } from './intake.ts';
import type { Account } from './ledger.ts';

type AnyFunction = (...args: unknown[]) => unknown;
type Call = Extract<Crossing, { kind: 'call' }>;
type Answer = Extract<Crossing, { kind: 'answer' }>;

const insideBridge = new AsyncLocalStorage<true>();

/** True if this code was called by a sandbox: another run then waits for any run begun here. */
export const isInsideBridge = (): boolean => insideBridge.getStore() === true;

/** Calls a function of the host for the sandbox. */
export const callInsideBridge = <T>(call: () => T): T => insideBridge.run(true, call);

export interface HostFunctionsParts {
  readonly send: (crossing: Crossing) => void;
  readonly intake: Intake;
  readonly account: Account;
}

export class HostFunctions {
  readonly table: FunctionTable = {
    give: (fn) => this.#give(fn as AnyFunction),
    take: (id, name) => this.#take(id, name),
    home: (id) => this.#given[id - 1],
    homeId: (fn) => this.#takenIds.get(fn as object),
  };
  readonly #parts: HostFunctionsParts;
  /** Async context of the run, in which its functions are called: not that of the child, which serves many runs. */
  readonly #inRunContext = AsyncLocalStorage.snapshot();
  readonly #given: AnyFunction[] = [];
  readonly #givenIds = new Map<AnyFunction, number>();
  readonly #taken: (AnyFunction | undefined)[] = [];
  readonly #takenIds = new WeakMap<object, number>();
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #calls = 0;
  #inFlight = 0;
  #inFlightBytes = 0;
  #closed: string | undefined;

  constructor(parts: HostFunctionsParts) {
    this.#parts = parts;
  }

  /** Handles a call or an answer from the sandbox. Throws if a call exceeds the limits. */
  receive(crossing: Crossing): void {
    if (this.#closed !== undefined) return;
    if (crossing.kind === 'call') this.#admit(crossing);
    else this.#settle(crossing);
  }

  /** Rejects pending and all later calls of the code's functions with `why`. */
  close(why: string): void {
    this.#closed ??= why;
    for (const { reject } of this.#pending.values()) reject(new Error(why));
    this.#pending.clear();
    this.#parts.account.close();
  }

  #give(fn: AnyFunction): number {
    const known = this.#givenIds.get(fn);
    if (known !== undefined) return known;
    if (this.#given.length >= SANDBOX_LIMITS.functions) {
      throw new Error(`A sandbox run may receive at most ${SANDBOX_LIMITS.functions} functions.`);
    }
    this.#given.push(fn);
    this.#givenIds.set(fn, this.#given.length);
    return this.#given.length;
  }

  /** The sandbox numbers its functions from 1: a larger id could only be meant to enlarge the table. */
  #take(id: number, name: string): AnyFunction {
    const known = this.#taken[id];
    if (known) return known;
    if (id > SANDBOX_LIMITS.functions) throw new Error('The sandbox passed too many functions.');
    const proxy = (...args: unknown[]) => {
      const answer = this.#call(id, args);
      // A caller that does not await must not crash this process when the code throws.
      answer.catch(() => undefined);
      return answer;
    };
    Object.defineProperty(proxy, 'name', { value: name, configurable: true });
    this.#taken[id] = proxy;
    this.#takenIds.set(proxy, id);
    return proxy;
  }

  async #call(fn: number, args: unknown[]): Promise<unknown> {
    if (this.#closed !== undefined) throw new Error(this.#closed);
    const { wire } = encode(args, this.table, TRANSFER, 'arguments');
    this.#calls += 1;
    const call = Promise.withResolvers<unknown>();
    this.#pending.set(this.#calls, call);
    this.#parts.send({ kind: 'call', id: this.#calls, fn, wire });
    return call.promise;
  }

  #settle({ id, ok, wire }: Answer): void {
    const call = this.#pending.get(id);
    if (!call) return;
    this.#pending.delete(id);
    try {
      const value = this.#parts.intake.read(wire, this.table);
      if (ok) call.resolve(value);
      else call.reject(value);
    } catch (error) {
      call.reject(error);
    }
  }

  /** The size of the arguments is counted before they are read, and until the call is answered. */
  #admit(call: Call): void {
    const bytes = estimateMemory(call.wire);
    const { callsInFlight, callsInFlightBytes } = SANDBOX_LIMITS;
    const fits = this.#inFlight < callsInFlight && this.#inFlightBytes + bytes <= callsInFlightBytes;
    if (this.#inFlight > 0 && !fits) throw new Error('more concurrent calls than allowed');
    this.#parts.account.hold(bytes);
    this.#inFlight += 1;
    this.#inFlightBytes += bytes;
    void this.#answer(call).finally(() => {
      this.#inFlight -= 1;
      this.#inFlightBytes -= bytes;
      if (this.#closed === undefined) this.#parts.account.release(bytes);
    });
  }

  async #answer({ id, fn, wire }: Call): Promise<void> {
    const { send, intake } = this.#parts;
    try {
      const args = intake.read(wire, this.table);
      const target = this.#given[fn - 1];
      if (!target || !Array.isArray(args))
        throw new Error('The sandbox called a function that it did not receive.');
      const apply = () => callInsideBridge(() => Reflect.apply(target, undefined, args));
      const value = await this.#inRunContext(apply);
      const answer = encode(value, this.table, TRANSFER, 'the returned value').wire;
      send({ kind: 'answer', id, ok: true, wire: answer });
    } catch (error) {
      send({ kind: 'answer', id, ok: false, wire: encodeError(error) });
    }
  }
}

/** Only name and message cross: a stack would reveal paths of the host. */
function encodeError(error: unknown): Wire {
  const { name } = (error ?? {}) as { name?: unknown };
  const bounded = new Error(errorMessage(error).slice(0, SANDBOX_LIMITS.errorMessageLength));
  Object.defineProperty(bounded, 'name', { value: typeof name === 'string' ? name.slice(0, 256) : 'Error' });
  return encode(bounded, undefined, TRANSFER).wire;
}
