/**
 * The sandbox's own code inside the isolate. The child calls `install` and `deliver`; modules that the child generates
 * around the user's import the rest. No specifier in user code resolves to this module.
 */

import { decode } from '../codec/decode.ts';
import { type EncodeLimits, encode, encodeLenient } from '../codec/encode.ts';
import { define, hasOwn, keysOf, mapDelete, mapGet, mapSet, Uint8ArrayOf } from '../codec/intrinsics.ts';
import type { Wire } from '../codec/wire.ts';
import {
  answerHost,
  type CallLimits,
  functionTable,
  hiddenProperty,
  openCalls,
  settleCall,
} from './calls.ts';
import { describe } from './describe.ts';
import { openPort, type PortReference, sendToChild, sendWire } from './port.ts';

/** Configuration of the isolate, copied in by the child. */
export interface Setup {
  readonly limits: CallLimits;
  /** Limits of one console entry. */
  readonly logs: EncodeLimits;
  readonly inputs: Wire;
}

interface Inputs {
  readonly globals: Readonly<Record<string, unknown>>;
  readonly imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly execute: { readonly args: readonly unknown[] };
}

const { apply } = Reflect;
const NativePromise = Promise;
const NativeTypeError = TypeError;
const NativeString = String;
const join = Array.prototype.join;

let limits: CallLimits;
let inputs: Inputs;
let builtInConsole: object;
const pendingLoads = new Map<number, { resolve: (ns: object) => void; reject: (error: unknown) => void }>();
const namespaces = new Map<number, object>();
let loadCount = 0;

export function install(port: PortReference, setup: Setup): void {
  harden();
  openPort(port);
  limits = setup.limits;
  openCalls(limits);
  builtInConsole = createConsole(setup.logs);
  inputs = decode(setup.inputs, functionTable, limits) as Inputs;
}

export const globalOf = (name: string): unknown => inputs.globals[name];
export const importOf = (specifier: string, key: string): unknown => inputs.imports[specifier]?.[key];
export const consoleOf = (): object => builtInConsole;

export function report(value: unknown): void {
  sendWire('report', 0, 0, encode(value, functionTable, limits, 'the reported value').wire);
}

export const metaOf = (url: string): object => ({ __proto__: null, url });

/** Returns the `import()` of the user module with the number `referrer`. */
export const loadFrom =
  (referrer: number) =>
  (specifier: unknown, options?: { with?: { type?: unknown } }): Promise<object> =>
    new NativePromise((resolve, reject) => {
      const text = NativeString(specifier);
      const attributes = options?.with;
      if (attributes && keysOf(attributes).length > 0 && attributes.type !== 'json') {
        throw new NativeTypeError('Only the import attribute { type: "json" } is supported in the sandbox.');
      }
      loadCount += 1;
      mapSet(pendingLoads, loadCount, { resolve, reject });
      sendToChild('load', loadCount, referrer, text);
    });

/** Called when a module that `import()` requested has been evaluated. */
export function loaded(module: number, namespace: object): void {
  mapSet(namespaces, module, namespace);
  sendToChild('evaluated', module, 0, '');
}

function settleLoad(id: number, module: number): void {
  const load = mapGet(pendingLoads, id) as { resolve: (ns: object) => void };
  mapDelete(pendingLoads, id);
  load.resolve(mapGet(namespaces, module) as object);
}

function refuseLoad(id: number, wire: Wire): void {
  const load = mapGet(pendingLoads, id) as { reject: (error: unknown) => void };
  mapDelete(pendingLoads, id);
  const thrown = decode(wire, undefined, limits) as readonly [error: Error, stack: string | undefined];
  const stack = thrown[1];
  if (stack !== undefined) define(thrown[0], 'stack', hiddenProperty(stack));
  load.reject(thrown[0]);
}

/** Receives a message from the child. */
export function deliver(
  kind: 'answer' | 'refusal' | 'call' | 'loaded' | 'not_loaded',
  first: number,
  second: number,
  text: string,
  buffer?: ArrayBuffer,
): void {
  const wire: Wire = buffer ? { text, bytes: new Uint8ArrayOf(buffer) } : { text };
  if (kind === 'answer' || kind === 'refusal') settleCall(first, kind === 'answer', wire);
  else if (kind === 'call') void answerHost(first, second, wire);
  else if (kind === 'loaded') settleLoad(first, second);
  else refuseLoad(first, wire);
}

/** Calls the requested export (§13.5), once the graph of the entry module has been evaluated. */
export async function start(namespace: object, fn: string): Promise<void> {
  try {
    sendToChild('started', 0, 0, '');
    if (!hasOwn(namespace, fn)) {
      sendToChild('missing', 0, 0, apply(join, keysOf(namespace), [', ']) as string);
      return;
    }
    const { args } = inputs.execute;
    let candidate = (namespace as Record<string, unknown>)[fn];
    if (typeof candidate === 'function') candidate = apply(candidate, undefined, args);
    else if (args.length > 0) {
      throw new NativeTypeError(`The export '${fn}' is not a function, but arguments were given.`);
    }
    // `await` unwraps thenables until none is left.
    const { wire, functions } = encode(await candidate, functionTable, limits, 'the result');
    sendWire('done', functions, 0, wire);
  } catch (thrown) {
    const { name, message, stack } = describe(thrown);
    sendWire('threw', 0, 0, encode([name, message, stack], undefined, limits).wire);
  }
}

/** The console's methods, each with its index in LOG_LEVELS (protocol.ts). */
const METHODS = [
  ['log', 0],
  ['info', 1],
  ['warn', 2],
  ['error', 3],
  ['debug', 4],
  ['trace', 4],
  ['dir', 0],
  ['table', 0],
] as const;

/** The `console` of a run whose caller gave none: its output becomes `logs` (§13.9, SHOULD). */
function createConsole(limits: EncodeLimits): object {
  const methods: Record<string, (...args: unknown[]) => void> = {};
  for (const [name, level] of METHODS) {
    methods[name] = (...args) => sendWire('log', level, 0, encodeLenient(args, limits, 'console'));
  }
  methods.assert = (holds, ...args) => {
    if (!holds) sendWire('log', 3, 0, encodeLenient(args, limits, 'console'));
  };
  // No-ops, so that code written for other consoles does not fail: there is nothing to group, count or time here.
  for (const name of [
    'group',
    'groupCollapsed',
    'groupEnd',
    'time',
    'timeEnd',
    'timeLog',
    'count',
    'clear',
  ]) {
    methods[name] = () => undefined;
  }
  return Object.freeze(methods);
}

/** `WebAssembly` and `console` come from the engine; the others belong to the language, but §13.1 forbids them. */
const REMOVED = ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'console', 'eval'];

/**
 * Removes what an engine adds to the language, shared memory, and every way to make code from text (§13.1). Promises,
 * `await` and the microtask queue belong to the engine and stay; `queueMicrotask`, timers and other host APIs are
 * never provided (§13.7). Runs inside the isolate before any user code, so it may use the intrinsics directly.
 */
function harden(): void {
  for (const name of REMOVED) Reflect.deleteProperty(globalThis, name);
  const kinds = [() => {}, async () => {}, function* () {}, async function* () {}];
  for (const kind of kinds) disableConstructor(Object.getPrototypeOf(kind));
  // Removes the engine's template object from the prototype chain: it has its own constructor.
  Object.setPrototypeOf(globalThis, Object.prototype);
}

/** Makes the original constructor unreachable: only its prototype and its global, if any, refer to it. */
function disableConstructor(prototype: { constructor: { readonly name: string } }): void {
  const { name } = prototype.constructor;
  function disabled(): never {
    throw new EvalError(`${name} from text is disabled in the sandbox.`);
  }
  const fixed = { __proto__: null, enumerable: false, configurable: false, writable: false };
  Object.defineProperty(disabled, 'name', { ...fixed, value: name });
  // Keeps `instanceof Function` working.
  Object.defineProperty(disabled, 'prototype', { ...fixed, value: prototype });
  Object.defineProperty(prototype, 'constructor', { ...fixed, value: disabled });
  if (Object.hasOwn(globalThis, name)) {
    Object.defineProperty(globalThis, name, {
      ...fixed,
      configurable: true,
      writable: true,
      value: disabled,
    });
  }
}
