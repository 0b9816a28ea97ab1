/**
 * Calls across the boundary, on the sandbox's side (§13.3): the host's functions are async proxies here, and functions
 * given to the host are stored by id. Intrinsics are captured before the user's code can change them.
 */
import { decode } from '../codec/decode.ts';
import { type EncodeLimits, encode } from '../codec/encode.ts';
import { cut, define, ErrorOf, mapDelete, mapGet, mapSet } from '../codec/intrinsics.ts';
import { estimateMemory, type FunctionTable, type Wire } from '../codec/wire.ts';
import { describe } from './describe.ts';
import { sendWire } from './port.ts';

type AnyFunction = (...args: unknown[]) => unknown;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Made where the call was made: its stack is shown if the host's function fails, and formatted only then. */
  readonly site: Error;
  readonly bytes: number;
}

const { apply } = Reflect;
const { setPrototypeOf } = Object;
const NativePromise = Promise;
const { withResolvers } = Promise;

/** `Map.get` that works even if user code has changed `Map.prototype`. */
const get = <Value>(map: Map<unknown, Value>, key: unknown): Value | undefined =>
  mapGet(map, key) as Value | undefined;
/** Descriptor of a non-enumerable property, like those of the language; unaffected by changes to `Object.prototype`. */
export const hiddenProperty = (value: unknown): PropertyDescriptor =>
  setPrototypeOf({ value, writable: true, configurable: true }, null) as PropertyDescriptor;

const pending = new Map<number, Pending>();
/** Calls that wait for room in flight, by id. */
const waiting = new Map<number, { readonly fn: number; readonly wire: Wire; readonly bytes: number }>();
const given = new Map<number, AnyFunction>();
const givenIds = new Map<unknown, number>();
const taken = new Map<number, AnyFunction>();
const takenIds = new Map<unknown, number>();

export interface CallLimits extends EncodeLimits {
  readonly functions: number;
  readonly inFlight: number;
  readonly inFlightBytes: number;
}

let limits: CallLimits;
let calls = 0;
let inFlight = 0;
let inFlightBytes = 0;
/** Id of the last call that was sent; calls are sent in the order of their ids. */
let lastDispatched = 0;
let givenCount = 0;

export function openCalls(given: CallLimits): void {
  limits = given;
}

export const functionTable: FunctionTable = {
  give(fn) {
    const known = get(givenIds, fn);
    if (known !== undefined) return known;
    if (givenCount >= limits.functions) {
      throw new ErrorOf(`The sandbox passed ${limits.functions} functions to the host, which is the limit.`);
    }
    givenCount += 1;
    mapSet(given, givenCount, fn);
    mapSet(givenIds, fn, givenCount);
    return givenCount;
  },
  home: (id) => get(given, id),
  homeId: (fn) => get(takenIds, fn),
  take(id, name) {
    const known = get(taken, id);
    if (known) return known;
    const proxy = (...args: unknown[]) => callHost(id, args);
    define(proxy, 'name', hiddenProperty(name));
    mapSet(taken, id, proxy);
    mapSet(takenIds, proxy, id);
    return proxy;
  },
};

function callHost(fn: number, args: unknown[]): Promise<unknown> {
  const { promise, resolve, reject } = apply(
    withResolvers,
    NativePromise,
    [],
  ) as PromiseWithResolvers<unknown>;
  try {
    const { wire } = encode(args, functionTable, limits, 'arguments');
    calls += 1;
    const bytes = estimateMemory(wire);
    mapSet(pending, calls, { resolve, reject, site: new ErrorOf(), bytes });
    if (lastDispatched === calls - 1 && hasRoom(bytes)) dispatch(calls, fn, wire, bytes);
    else mapSet(waiting, calls, { fn, wire, bytes });
  } catch (error) {
    // Thrown by the encoder, or by a getter that it read.
    reject(error);
  }
  return promise;
}

/** Whether a call may be in flight now: the host keeps the arguments until it answers. One call always may. */
function hasRoom(bytes: number): boolean {
  if (inFlight === 0) return true;
  return inFlight < limits.inFlight && inFlightBytes + bytes <= limits.inFlightBytes;
}

function dispatch(id: number, fn: number, wire: Wire, bytes: number): void {
  lastDispatched = id;
  // Throws if the user's code has exhausted the stack: the call is then not in flight.
  sendWire('call', id, fn, wire);
  inFlight += 1;
  inFlightBytes += bytes;
}

/** Handles the host's answer to one of our calls. */
export function settleCall(id: number, ok: boolean, wire: Wire): void {
  const call = get(pending, id);
  if (!call) return;
  mapDelete(pending, id);
  inFlight -= 1;
  inFlightBytes -= call.bytes;
  dispatchNext();
  try {
    const value = decode(wire, functionTable, limits);
    if (ok) call.resolve(value);
    else call.reject(withCallStack(value, call.site));
  } catch (error) {
    call.reject(error);
  }
}

function dispatchNext(): void {
  while (lastDispatched < calls) {
    const id = lastDispatched + 1;
    const next = get(waiting, id);
    if (next === undefined || !hasRoom(next.bytes)) return;
    mapDelete(waiting, id);
    dispatch(id, next.fn, next.wire, next.bytes);
  }
}

/** Gives an error from the host, which was rebuilt here, the stack of the call: that place is what helps the author. */
function withCallStack(error: unknown, site: Error): unknown {
  if (typeof error === 'object' && error !== null) {
    const { name, message } = describe(error);
    define(error, 'stack', hiddenProperty(`${name}: ${message}${framesOf(site)}`));
  }
  return error;
}

/** Returns the stack from its first line break on; empty if there is none, since user code can change stacks. */
function framesOf(site: Error): string {
  const { stack } = describe(site);
  for (let at = 0; at < stack.length; at += 1) if (stack[at] === '\n') return cut(stack, at);
  return '';
}

/** Handles a call of one of our functions by the host. */
export async function answerHost(id: number, fn: number, wire: Wire): Promise<void> {
  let answer: Wire;
  let ok = true;
  try {
    const args = decode(wire, functionTable, limits) as unknown[];
    const value = await apply(get(given, fn) as AnyFunction, undefined, args);
    answer = encode(value, functionTable, limits, 'the returned value').wire;
  } catch (thrown) {
    ok = false;
    answer = encodeThrown(thrown);
  }
  sendWire(ok ? 'answer' : 'refusal', id, 0, answer);
}

function encodeThrown(thrown: unknown): Wire {
  const { name, message } = describe(thrown);
  const error = new ErrorOf(message);
  define(error, 'name', hiddenProperty(name));
  return encode(error, undefined, limits).wire;
}
