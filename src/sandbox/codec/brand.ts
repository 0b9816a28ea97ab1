/**
 * Determines what a value really is, from its internal slots: `Symbol.toStringTag`, `constructor` and `instanceof` can
 * be faked, and `instanceof` fails across realms. Only what this file recognises crosses the sandbox boundary.
 */
import {
  arrayPrototype,
  bufferBytes,
  dateTime,
  descriptorOf,
  errorPrototype,
  errorTest,
  getPrototypeOf,
  hasOwn,
  isArray,
  mapSize,
  objectPrototype,
  objectText,
  regexpSource,
  setSize,
  toStringTag,
  typedArrayKind,
  viewBuffer,
} from './intrinsics.ts';

export type Brand =
  | 'function'
  | 'object'
  | 'array'
  | 'map'
  | 'set'
  | 'date'
  | 'regexp'
  | 'error'
  | 'binary'
  | 'unknown';

interface Probe {
  readonly brand: Brand;
  /** Throws for every value without the slot. */
  readonly read: (value: unknown) => unknown;
  readonly prototype: object;
}

const PROBES: readonly Probe[] = [
  { brand: 'date', read: dateTime, prototype: Date.prototype },
  { brand: 'map', read: mapSize, prototype: Map.prototype },
  { brand: 'set', read: setSize, prototype: Set.prototype },
  { brand: 'regexp', read: regexpSource, prototype: RegExp.prototype },
  { brand: 'binary', read: bufferBytes, prototype: ArrayBuffer.prototype },
  // Reads `buffer` and not `byteLength`, which also throws if the buffer is detached.
  { brand: 'binary', read: viewBuffer, prototype: DataView.prototype },
];

/** May run traps of a Proxy; what they throw propagates. */
export function brandOf(value: object): Brand {
  if (typeof value === 'function') return 'function';
  if (isRevoked(value)) return 'unknown';
  const prototype = getPrototypeOf(value) as object | null;
  if (isArray(value)) return isArrayPrototype(prototype) ? 'array' : 'unknown';
  return prototype === null || isObjectPrototype(prototype) ? 'object' : brandUnder(prototype, value);
}

function brandUnder(prototype: object, value: object): Brand {
  for (let i = 0; i < PROBES.length; i++) {
    const probe = PROBES[i]!;
    if (probe.prototype === prototype && hasSlot(probe, value)) return probe.brand;
  }
  if (typedArrayKind(value) !== undefined) return isTypedArrayPrototype(prototype) ? 'binary' : 'unknown';
  if (isError(value)) return 'error';
  // The prototype of a user's subclass derives from the builtin's, so it is one step further from Object.prototype.
  if (!isObjectPrototype(getPrototypeOf(prototype))) return 'unknown';
  for (let i = 0; i < PROBES.length; i++) {
    const probe = PROBES[i]!;
    if (hasSlot(probe, value)) return probe.brand;
  }
  return 'unknown';
}

/** `Array.isArray` runs no Proxy trap, and throws only for a revoked Proxy. */
export function isRevoked(value: unknown): boolean {
  try {
    isArray(value);
    return false;
  } catch {
    return true;
  }
}

/**
 * Returns the class name for messages, or an empty text. Reads only data properties of the nearest prototypes, no
 * getters. Traps of a Proxy may run: the walk is bounded, and if they throw there is no name.
 */
export function classNameOf(value: object): string {
  try {
    let at = getPrototypeOf(value) as object | null;
    for (let step = 0; at !== null && step < 8; step++) {
      const made = dataOf(at, 'constructor');
      const name = typeof made === 'function' ? dataOf(made, 'name') : dataOf(at, toStringTag);
      if (typeof name === 'string') return name;
      at = getPrototypeOf(at) as object | null;
    }
  } catch {}
  return '';
}

/** Returns the value of an own data property; undefined if there is none, or if it is an accessor. */
export function dataOf(owner: object, key: PropertyKey): unknown {
  const found = descriptorOf(owner, key);
  return found !== undefined && hasOwn(found, 'value') ? found.value : undefined;
}

function hasSlot(probe: Probe, value: object): boolean {
  try {
    probe.read(value);
    return true;
  } catch {
    return false;
  }
}

function isError(value: object): boolean {
  if (errorTest) return errorTest(value);
  // Before Node 24: without a `Symbol.toStringTag`, only values with the error slot have this text.
  if (objectText(value) === '[object Error]' && !(toStringTag in value)) return true;
  let at = getPrototypeOf(value) as object | null;
  for (let step = 0; at !== null && step < 8; step++) {
    if (at === errorPrototype) return true;
    at = getPrototypeOf(at) as object | null;
  }
  return false;
}

/** Recognises Object.prototype of any realm: it ends the chain, and no user object has this own method by accident. */
function isObjectPrototype(value: object | null): boolean {
  if (value === objectPrototype) return true;
  return value !== null && getPrototypeOf(value) === null && hasOwn(value, 'isPrototypeOf');
}

/** Recognises null, and Array.prototype of any realm: it is itself an array, which no class prototype is. */
function isArrayPrototype(value: object | null): boolean {
  if (value === arrayPrototype || value === null) return true;
  return isArray(value) && isObjectPrototype(getPrototypeOf(value) as object | null);
}

/** Uint8Array.prototype → %TypedArray%.prototype → Object.prototype; Node's Buffer is one step further. */
function isTypedArrayPrototype(value: object): boolean {
  const made = dataOf(value, 'constructor');
  const isBuffer = typeof made === 'function' && dataOf(made, 'name') === 'Buffer';
  const above = getPrototypeOf(isBuffer ? (getPrototypeOf(value) as object) : value) as object | null;
  return above !== null && isObjectPrototype(getPrototypeOf(above) as object | null);
}
