/**
 * Takes away what an engine adds to the language, and every way to make code from text (§13.1).
 * Promises, `await` and the microtask queue are the engine's own and stay; `queueMicrotask`, timers and all else of a host are never
 * given (§13.7).
 * Runs inside the isolate before anything of the user's does, so it may use the intrinsics as they are.
 */

/** `console` and the rest are the engine's; `eval` is the language's, and is refused by §13.1. */
const REMOVED = ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'console', 'eval'];

export function harden(): void {
  for (const name of REMOVED) Reflect.deleteProperty(globalThis, name);
  const kinds = [() => {}, async () => {}, function* () {}, async function* () {}];
  for (const kind of kinds) disableConstructor(Object.getPrototypeOf(kind));
  // The engine's own template object stands there, with a constructor of its own.
  Object.setPrototypeOf(globalThis, Object.prototype);
}

/** After this no path leads to the original: prototypes were the only ones that knew it. */
function disableConstructor(prototype: { constructor: { readonly name: string } }): void {
  const { name } = prototype.constructor;
  function disabled(): never {
    throw new EvalError(`${name} from text is disabled in the sandbox.`);
  }
  const fixed = { __proto__: null, enumerable: false, configurable: false, writable: false };
  Object.defineProperty(disabled, 'name', { ...fixed, value: name });
  // So that `instanceof Function` still says what it should.
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
