/**
 * Functions across the boundary, as the host sees them (§13.3). The code calls the host's functions by id, without
 * `this` and with nothing but its arguments; the code's functions are async proxies here.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { errorMessage } from '../../core/error.ts';
import { decode } from '../codec/decode.ts';
import { encode } from '../codec/encode.ts';
import type { FunctionDoor, Wire } from '../codec/wire.ts';
import { SANDBOX_LIMITS, TRANSFER } from '../limits.ts';
import type { Crossing } from '../protocol.ts';

type AnyFunction = (...args: unknown[]) => unknown;

const insideBridge = new AsyncLocalStorage<true>();

/** Whether this code was called by a sandbox: a run begun here is waited for by another. */
export const isInsideBridge = (): boolean => insideBridge.getStore() === true;

/** Calls a function of the host's on behalf of the sandbox. */
export const callInsideBridge = <T>(call: () => T): T => insideBridge.run(true, call);

export interface HostFunctions {
  readonly door: FunctionDoor;
  /** Something came from the sandbox. */
  receive(crossing: Crossing): void;
  /** Calls under way reject with `why`, and so do all later ones. */
  close(why: string): void;
}

export function createHostFunctions(send: (crossing: Crossing) => void): HostFunctions {
  const given: AnyFunction[] = [];
  const givenIds = new Map<unknown, number>();
  const taken = new Map<number, AnyFunction>();
  const takenIds = new WeakMap<object, number>();
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let calls = 0;
  let closed: string | undefined;
  // A child serves many: what the host gave is called in the async context of whoever gave it, not of whoever made the child.
  const within = AsyncLocalStorage.snapshot();

  const callSandbox = async (fn: number, args: unknown[]): Promise<unknown> => {
    if (closed !== undefined) throw new Error(closed);
    const { wire } = encode(args, door, TRANSFER, 'arguments');
    calls += 1;
    const call = Promise.withResolvers<unknown>();
    pending.set(calls, call);
    send({ kind: 'call', id: calls, fn, wire });
    return call.promise;
  };
  const door: FunctionDoor = {
    give(fn) {
      const known = givenIds.get(fn);
      if (known !== undefined) return known;
      if (given.length >= SANDBOX_LIMITS.functions) {
        throw new Error(`A sandbox run may be given ${SANDBOX_LIMITS.functions} functions, and no more.`);
      }
      given.push(fn as AnyFunction);
      givenIds.set(fn, given.length);
      return given.length;
    },
    home: (id) => given[id - 1],
    homeId: (fn) => takenIds.get(fn as object),
    take(id, name) {
      const known = taken.get(id);
      if (known) return known;
      if (taken.size >= SANDBOX_LIMITS.functions) throw new Error('The sandbox gave too many functions.');
      const proxy = (...args: unknown[]) => {
        const answer = callSandbox(id, args);
        // Whoever called without awaiting must not end this process by what the code throws.
        answer.catch(() => undefined);
        return answer;
      };
      Object.defineProperty(proxy, 'name', { value: name, configurable: true });
      taken.set(id, proxy);
      takenIds.set(proxy, id);
      return proxy;
    },
  };

  const answer = async ({ id, fn, wire }: Extract<Crossing, { kind: 'call' }>): Promise<void> => {
    try {
      const args = decode(wire, door, TRANSFER);
      const target = given[fn - 1];
      if (!target || !Array.isArray(args)) throw new Error('The sandbox called a function it was not given.');
      const value = await within(() => callInsideBridge(() => Reflect.apply(target, undefined, args)));
      send({ kind: 'answer', id, ok: true, wire: encode(value, door, TRANSFER, 'the returned value').wire });
    } catch (error) {
      send({ kind: 'answer', id, ok: false, wire: encodeError(error) });
    }
  };

  return {
    door,
    receive(crossing) {
      if (closed !== undefined) return;
      if (crossing.kind === 'call') return void answer(crossing);
      const call = pending.get(crossing.id);
      if (!call) return;
      pending.delete(crossing.id);
      try {
        const value = decode(crossing.wire, door, TRANSFER);
        if (crossing.ok) call.resolve(value);
        else call.reject(value);
      } catch (error) {
        call.reject(error);
      }
    },
    close(why) {
      closed ??= why;
      for (const { reject } of pending.values()) reject(new Error(why));
      pending.clear();
    },
  };
}

/** Name and message cross; a stack would name the host's files. */
function encodeError(error: unknown): Wire {
  const { name } = (error ?? {}) as { name?: unknown };
  const told = new Error(errorMessage(error).slice(0, SANDBOX_LIMITS.errorMessageLength));
  Object.defineProperty(told, 'name', { value: typeof name === 'string' ? name.slice(0, 256) : 'Error' });
  return encode(told, undefined, TRANSFER).wire;
}
