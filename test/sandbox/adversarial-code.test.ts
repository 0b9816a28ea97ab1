/**
 * Groups 1, 4, 5, 7, 8 and 9 of the adversarial tests: means of the language itself by which code may gain more access.
 */
import { afterAll, describe, expect, it } from '@jest/globals';
import type { CodeExecutionOptions } from '../../src/core/author/code-execution.ts';
import { createSandbox } from '../../src/sandbox/index.ts';

const sandbox = createSandbox({ size: 2 });
const scope = sandbox.scope();
afterAll(() => sandbox.close());

const run = (source: string, options?: CodeExecutionOptions) => scope.runCode(source, options);
const javascript = (source: string, options?: CodeExecutionOptions) =>
  run(source, { language: 'javascript', ...options });

describe('code made from text', () => {
  const WAYS: Readonly<Record<string, string>> = {
    'the constructor of an arrow': '(() => {}).constructor("return 1")()',
    'of an async function': '(async () => {}).constructor("return 1")()',
    'of a generator': '(function* () {}).constructor("yield 1")()',
    'of an async generator': '(async function* () {}).constructor("yield 1")()',
    'of a class': '(class A {}).constructor("return 1")()',
    'Function itself': 'Function("return 1")()',
    'Reflect.construct': 'Reflect.construct(Function, ["return 1"])()',
    'a bound Function': 'Function.bind(null)("return 1")()',
    'a subclass of Function': 'new (class F extends Function {})("return 1")()',
    'a descriptor of constructor':
      'Object.getOwnPropertyDescriptor(Function.prototype, "constructor").value("return 1")()',
    'the constructor of an accessor':
      'Object.getOwnPropertyDescriptor(Map.prototype, "size").get.constructor("1")()',
    'of a bound native': 'Math.max.bind(null).constructor("return 1")()',
    'of a Proxy': 'new Proxy(function () {}, {}).constructor("return 1")()',
    'of a host function': 'host.constructor("return 1")()',
  };

  it.each(Object.entries(WAYS))('adversarial 1: %s does not evaluate text', async (_, way) => {
    const { status, error } = await javascript(`export default ${way}`, { globals: { host: () => 1 } });
    expect(status).toBe('error');
    expect(error).toMatchObject({
      name: 'EvalError',
      message: expect.stringContaining('disabled in the sandbox'),
    });
  });

  it('adversarial 1: eval does not exist, by name or on globalThis', async () => {
    expect((await javascript('export default eval("1")')).error?.name).toBe('ReferenceError');
    expect((await javascript('export default (0, globalThis.eval)("1")')).error?.name).toBe('TypeError');
  });

  it('adversarial 1: globals of engines and hosts do not exist', async () => {
    const names =
      'WebAssembly SharedArrayBuffer Atomics console eval process require setTimeout setInterval setImmediate fetch ' +
      'queueMicrotask structuredClone performance global module exports Buffer ShadowRealm navigator crypto gc';
    const asked = names.split(' ').map((name) => `typeof ${name}`);
    const { result } = await javascript(`export default [${asked}]`, { globals: { console: undefined } });
    expect(result).toEqual(asked.map(() => 'undefined'));
  });
});

describe('globals', () => {
  it('adversarial 4: are bindings of the module, and not on globalThis', async () => {
    const source = `
      export default {
        type: typeof foo, inside: 'foo' in globalThis, keys: Object.keys(globalThis),
        odd: Reflect.ownKeys(globalThis).filter((key) => typeof key === 'symbol' || /[0-9a-f]{12}|^\\$/.test(key)),
        shadow: ((foo) => foo)('mine'),
      };`;
    const { result } = await run(source, { globals: { foo: 1 } });
    expect(result).toEqual({
      type: 'number',
      inside: false,
      keys: [],
      odd: [Symbol.toStringTag].slice(1),
      shadow: 'mine',
    });
  });

  it('adversarial 4: cannot be assigned to, and are shadowed by a declaration of the module', async () => {
    expect(await javascript('foo = 2', { globals: { foo: 1 } })).toMatchObject({
      status: 'error',
      error: { name: 'TypeError' },
    });
    const declared = await javascript('const foo = "own"; export default foo', { globals: { foo: 1 } });
    expect(declared.result).toBe('own');
  });
});

describe('state left behind by a run', () => {
  it('adversarial 5: is invisible to the next run in the same child, and to the host', async () => {
    const one = createSandbox({ size: 1 });
    const { runCode } = one.scope();
    const leave =
      'globalThis.x = 1; Object.prototype.x = 2; Array.prototype.push = null; export default ({}).x';
    const look = 'export default [typeof x, ({}).x, typeof [].push]';
    expect((await runCode(leave)).result).toBe(2);
    expect((await runCode(look, { language: 'javascript' })).result).toEqual([
      'undefined',
      undefined,
      'function',
    ]);
    expect(({} as { x?: unknown }).x).toBeUndefined();
    await one.close();
  });
});

describe('stacks', () => {
  it('adversarial 7: of prepareStackTrace, stackTraceLimit and captureStackTrace name sandbox sources only', async () => {
    const source = `
      Error.stackTraceLimit = Infinity;
      const sites = [];
      Error.prepareStackTrace = (error, frames) => {
        for (const frame of frames) {
          sites.push(frame.getFileName(), frame.getScriptNameOrSourceURL(), frame.getEvalOrigin());
          if (frame.getThis() !== undefined || frame.getFunction() !== undefined) sites.push('LEAK');
        }
        return 'prepared';
      };
      try { await host(Symbol('no')) } catch (error) { void error.stack }
      try { await host(new (class A {})()) } catch (error) { void error.stack }
      try { report(() => {}, 1) ; report(new WeakMap()) } catch (error) { void error.stack }
      try { await import('nowhere') } catch (error) { void error.stack }
      const own = {}; Error.captureStackTrace(own); void own.stack;
      void new Error('mine').stack;
      delete Error.prepareStackTrace;
      export default { sites, plain: new Error('plain').stack, captured: (Error.captureStackTrace(own), own.stack) };`;
    const { status, result } = await javascript(source, {
      globals: { host: () => 1 },
      report: () => undefined,
    });
    expect(status).toBe('success');
    const { sites, plain, captured } = result as { sites: unknown[]; plain: string; captured: string };
    const named = sites.filter((site) => site !== undefined && site !== null);
    expect(named.length).toBeGreaterThan(4);
    expect(named.filter((site) => !/^sandbox:(<runCode>|internal)$/.test(String(site)))).toEqual([]);
    const lines = `${plain}\n${captured}`.split('\n').filter((line) => /^\s+at /.test(line));
    expect(lines.filter((line) => !/sandbox:(<runCode>|internal)|<anonymous>/.test(line))).toEqual([]);
  });
});

describe('poisoned builtins', () => {
  const POISONS: Readonly<Record<string, string>> = {
    'call, apply and bind': 'for (const k of ["call", "apply", "bind"]) Function.prototype[k] = bad',
    'iterators of arrays, maps and sets':
      'for (const C of [Array, Map, Set, String]) C.prototype[Symbol.iterator] = bad; Object.getPrototypeOf([][Symbol.iterator] ? {} : {})',
    'methods of Map, Set and Promise':
      'for (const C of [Map, Set, Promise, WeakMap]) for (const k of Object.getOwnPropertyNames(C.prototype)) if (k !== "constructor") try { C.prototype[k] = bad } catch {}',
    'getters on Object.prototype':
      'for (const k of ["get", "set", "value", "enumerable", "then", "bytes", "text", "copy", "reference", "arguments", "result", "timeout", "next", "fn", "id"]) Object.defineProperty(Object.prototype, k, { get: bad, set: bad, configurable: true })',
    'indices of Array.prototype':
      'for (const k of [0, 1, 2, 3]) Object.defineProperty(Array.prototype, k, { get: bad, set: bad, configurable: true })',
    'frozen intrinsics':
      'for (const C of [Object, Array, Function, Promise, Map, Set, Error]) { Object.freeze(C); Object.freeze(C.prototype) }',
    'intrinsics without their names':
      'for (const k of ["Object", "Array", "Promise", "Map", "Set", "Reflect", "JSON", "Error", "Symbol", "String"]) delete globalThis[k]',
    'JSON and Reflect': 'JSON.stringify = JSON.parse = Reflect.apply = Reflect.ownKeys = bad',
  };

  it.each(Object.entries(POISONS))(
    'adversarial 8: %s: the host is not reached, and the run ends',
    async (_, poison) => {
      const seen: unknown[] = [];
      const source = `
      let calls = 0;
      const bad = function () { calls++; return undefined; };
      ${poison};
      report({ a: [1, 2] });
      const answer = await host({ list: [1, { b: 2 }], map: 'm' });
      export default { answer, calls };`;
      const host = (value: unknown) => {
        seen.push(value);
        return { got: [1, 2, 3] };
      };
      const outcome = await javascript(source, {
        globals: { host },
        report: (value) => seen.push(value),
      });
      expect(['success', 'error']).toContain(outcome.status);
      if (outcome.status === 'success') {
        expect(outcome.result).toMatchObject({ answer: { got: [1, 2, 3] } });
        expect(seen).toEqual([{ a: [1, 2] }, { list: [1, { b: 2 }], map: 'm' }]);
      }
      expect((await run('export default [..."ab"].map((c) => c)')).result).toEqual(['a', 'b']);
    },
  );
});

describe('thrown values', () => {
  const THROWN: Readonly<Record<string, string>> = {
    null: 'null',
    undefined: 'undefined',
    'a symbol': 'Symbol("s")',
    'a function': 'function f() {}',
    'a Proxy': 'new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 }, has() { throw 3 } })',
    'a revoked Proxy': '(() => { const p = Proxy.revocable({}, {}); p.revoke(); return p.proxy })()',
    'an error with throwing getters':
      'Object.defineProperties(new Error("x"), Object.fromEntries(["name", "message", "stack"].map((k) => [k, { get() { throw 1 } }])))',
    'an object that is its own text': '{ toString() { throw 1 }, message: { toString() { throw 2 } } }',
  };

  it.each(Object.entries(THROWN))(
    'adversarial 9: %s ends the run as error, from every place',
    async (_, thrown) => {
      const value = `(${thrown})`;
      for (const source of [
        `throw ${value}`,
        `export default () => { throw ${value} }`,
        `await null; throw ${value}`,
        `export default Promise.reject(${value})`,
        `export default { get a() { throw ${value} } }`,
      ]) {
        const { status, error } = await javascript(source);
        expect(status).toBe('error');
        expect(typeof error?.message).toBe('string');
        expect(JSON.stringify(error)).not.toMatch(/node_modules|file:|isolated-vm/);
      }
    },
  );
});
