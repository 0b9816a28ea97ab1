/**
 * The builtins that the codec uses, captured when this module is evaluated, before any user code runs. Later, user code
 * may replace every method and pollute every prototype of its realm, without any effect here. Code written with these
 * captures therefore looks nothing up: no method calls, no spread, no `for … of`, no assignment that would create a
 * property, and descriptors without a prototype.
 */

const { bind, call } = Function.prototype;

/** Turns a method into a function that takes its `this` first. Calling the bound `call` looks nothing up. */
const uncurry = bind.bind(call) as <Args extends unknown[], Result>(
  method: (...args: Args) => Result,
) => (self: unknown, ...args: Args) => Result;

function getter<Result>(owner: object, name: PropertyKey): (self: unknown) => Result {
  return uncurry(Object.getOwnPropertyDescriptor(owner, name)!.get as () => Result);
}

export const { isArray, prototype: arrayPrototype } = Array;
export const { isInteger, isNaN: isNotANumber, isSafeInteger } = Number;
export const { parse, stringify } = JSON;
export const { getPrototypeOf, hasOwn, keys: keysOf, prototype: objectPrototype } = Object;
export const descriptorOf = Object.getOwnPropertyDescriptor;
export const define = Object.defineProperty;
export const freeze = Object.freeze;

const { setPrototypeOf } = Object;

/** Makes a lookup table for keys that the other side chooses: without a prototype, it has only its own entries. */
export function tableOf<Value>(entries: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  setPrototypeOf(entries, null);
  return entries;
}

export const { toStringTag } = Symbol;

export const BigIntOf = BigInt;
export const DateOf = Date;
export const ErrorOf = Error;
export const MapOf = Map;
export const NumberOf = Number;
export const RegExpOf = RegExp;
export const SetOf = Set;

export const cut = uncurry(String.prototype.slice);
export const matchOf = uncurry(RegExp.prototype.exec);
export const symbolText = uncurry(Symbol.prototype.toString);
/** Returns the lowest bits of a bigint as an unsigned value. */
export const lowBits = BigInt.asUintN;
export const bigintText = uncurry(BigInt.prototype.toString);
export const objectText = uncurry(Object.prototype.toString);

export const mapGet = uncurry(Map.prototype.get as (key: unknown) => unknown);
export const mapSet = uncurry(Map.prototype.set as (key: unknown, value: unknown) => unknown);
export const mapEach = uncurry(
  Map.prototype.forEach as (visit: (value: unknown, key: unknown) => void) => void,
);
export const mapDelete = uncurry(Map.prototype.delete as (key: unknown) => unknown);
export const mapSize = getter<number>(Map.prototype, 'size');
export const setAdd = uncurry(Set.prototype.add as (item: unknown) => unknown);
export const setEach = uncurry(Set.prototype.forEach as (visit: (item: unknown) => void) => void);
export const setSize = getter<number>(Set.prototype, 'size');
export const dateTime = uncurry(Date.prototype.getTime);
export const regexpSource = getter<string>(RegExp.prototype, 'source');

const flag = (name: string) => getter<boolean | undefined>(RegExp.prototype, name);
const hasIndices = flag('hasIndices');
const global = flag('global');
const ignoreCase = flag('ignoreCase');
const multiline = flag('multiline');
const dotAll = flag('dotAll');
const unicode = flag('unicode');
const unicodeSets = flag('unicodeSets');
const sticky = flag('sticky');

/** Reads each flag separately: `RegExp.prototype.flags` reads properties that user code may have replaced. */
export function regexpFlags(value: unknown): string {
  return (
    (hasIndices(value) ? 'd' : '') +
    (global(value) ? 'g' : '') +
    (ignoreCase(value) ? 'i' : '') +
    (multiline(value) ? 'm' : '') +
    (dotAll(value) ? 's' : '') +
    (unicode(value) ? 'u' : '') +
    (unicodeSets(value) ? 'v' : '') +
    (sticky(value) ? 'y' : '')
  );
}

const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;

export const Uint8ArrayOf = Uint8Array;
export const Uint32ArrayOf = Uint32Array;
/** Returns `undefined` for any value that is not a typed array; never throws. */
export const typedArrayKind = getter<string | undefined>(typedArray, Symbol.toStringTag);
export const typedArrayBuffer = getter<ArrayBuffer>(typedArray, 'buffer');
export const typedArrayOffset = getter<number>(typedArray, 'byteOffset');
export const typedArrayBytes = getter<number>(typedArray, 'byteLength');
export const typedArrayAt = uncurry(Uint8Array.prototype.at as (index: number) => unknown);
export const typedArraySet = uncurry(Uint8Array.prototype.set as (from: Uint8Array, offset: number) => void);
export const bufferBytes = getter<number>(ArrayBuffer.prototype, 'byteLength');
export const viewBuffer = getter<ArrayBuffer>(DataView.prototype, 'buffer');
export const viewOffset = getter<number>(DataView.prototype, 'byteOffset');
export const viewBytes = getter<number>(DataView.prototype, 'byteLength');

/** Available since Node 24, but missing from the ES2024 types. */
export const errorTest = (Error as { isError?: (value: unknown) => boolean }).isError;
export const errorPrototype = Error.prototype;
