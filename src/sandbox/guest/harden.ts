/**
 * Removes what an engine adds to the language, shared memory, and every way to make code from text (§13.1). Promises,
 * `await` and the microtask queue belong to the engine and stay; `queueMicrotask`, timers and other host APIs are never
 * provided (§13.7). Runs inside the isolate before any user code, so it may use the intrinsics directly.
 */

/** `WebAssembly` and `console` come from the engine; the others belong to the language, but §13.1 forbids them. */
const REMOVED = ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'console', 'eval'];

export function harden(): void {
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
