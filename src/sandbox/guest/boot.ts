/**
 * The sandbox's own code inside the isolate. The child calls `install` and `deliver`; modules that the child generates
 * around the user's import the rest. No specifier in user code resolves to this module.
 */
import { decode } from '../codec/decode.ts';
import { type EncodeLimits, encode } from '../codec/encode.ts';
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
import { createConsole } from './console.ts';
import { describe } from './describe.ts';
import { harden } from './harden.ts';
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
