/** An escape program: code that tries to reach more than it may, and says whether it did. */
import type { CodeExecutionOptions, CodeExecutionStatus } from '../../src/core/author/code-execution.ts';

export interface EscapeProgram {
  readonly name: string;
  /** Its result and its reports are the verdict; the word LEAK in them means that it escaped. */
  readonly source: string;
  readonly options?: CodeExecutionOptions;
  /** Expected status, by default `success`: a program that never reached its verdict proves nothing. */
  readonly status?: CodeExecutionStatus;
}

/**
 * The module './probe' of every program.
 * `tried` returns what a function returns, or the name of what it throws; `make` whether a constructor makes code;
 * `walk` everything odd that can be reached from values, through properties, accessors, symbols and prototypes.
 */
export const PROBE = `
const { getPrototypeOf, getOwnPropertyDescriptors, prototype: root, hasOwn } = Object;
const { ownKeys, construct } = Reflect;
const kinds = [() => {}, async () => {}, function* () {}, async function* () {}].map((fn) => getPrototypeOf(fn));
const ODD = /^(?:Reference|ExternalCopy|Isolate|Callback|Context|Script|NativeModule|process|require|Buffer|applySync.*|applyIgnored|derefInto|copyInto|isDisposed|EverthreadMarker)$/;

export function tried(f) {
  try {
    const value = f();
    return typeof value === 'function' ? 'function ' + value.name : String(value);
  } catch (error) {
    return 'threw ' + (Object(error) === error ? error.name : typeof error);
  }
}

export function make(C, body = 'return globalThis') {
  try {
    const made = construct(C, [body]);
    return typeof made === 'function' && getPrototypeOf(made) !== root && made.toString().includes(body) ? 'LEAK code' : 'closed';
  } catch (error) {
    return 'closed';
  }
}

export function walk(...roots) {
  const seen = new Set();
  const found = [];
  const queue = roots.map((value, index) => [value, 'root' + index]);
  for (let next = queue.pop(); next; next = queue.pop()) {
    const [value, path] = next;
    if (Object(value) !== value || seen.has(value)) continue;
    seen.add(value);
    let top = value;
    for (let above = getPrototypeOf(top); above !== null; above = getPrototypeOf(above)) top = above;
    if (top !== root && hasOwn(top, 'hasOwnProperty')) found.push('LEAK another realm at ' + path);
    if (typeof value === 'function') {
      if (kinds.includes(value.prototype) && make(value) !== 'closed') found.push('LEAK code at ' + path);
      if (make(value.constructor) !== 'closed') found.push('LEAK constructor at ' + path);
      if (ODD.test(value.name)) found.push('LEAK ' + value.name + ' at ' + path);
    }
    queue.push([getPrototypeOf(value), path + '.[proto]']);
    const descriptors = getOwnPropertyDescriptors(value);
    for (const key of ownKeys(descriptors)) {
      const { value: held, get, set } = descriptors[key];
      if (ODD.test(String(key))) found.push('LEAK ' + String(key) + ' at ' + path);
      for (const each of [held, get, set]) queue.push([each, path + '.' + String(key)]);
    }
  }
  return found.length > 0 ? found.slice(0, 20) : 'nothing odd in ' + (seen.size > 3 ? 'many' : 'few');
}
`;
