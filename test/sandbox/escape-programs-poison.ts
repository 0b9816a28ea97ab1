/** Escape programs that replace the builtins that trusted code in the same realm might use, and record their use. */
import type { EscapeProgram } from './escape-program.ts';

/** Uses everything that the sandbox's own code does for a program. */
const USE = `
  const symbol = Symbol('no'), weak = new WeakMap();
  const sample = { a: [1, 'x', -0, 1n, undefined, new Date(0), /x/g, new Map([[{}, 1]]), new Set([1]), new Uint8Array(2), new Error('e'), , 3] };
  const use = async () => {
    report(sample);
    console.log('x', sample, symbol, weak, () => 1);
    const answers = [host({ a: [1, { b: 2n }] }), host(symbol), fail('no'), call((x) => x, sample), call(() => { throw symbol }), import('./m'), import('nowhere')];
    try { report({ a: symbol }) } catch {}
    const told = [0, 0, 0, 0, 0, 0, 0]; for (let i = 0; i < 7; i++) try { told[i] = await answers[i]; } catch (e) { told[i] = e; }
    return told;
  };`;
const modules = { './m': 'export default import.meta.url; export const f = () => import("./m")' };

export const POISON: readonly EscapeProgram[] = [
  {
    name: 'every method of every builtin, replaced by a spy',
    source: `
      import { walk } from './probe';
      ${USE}
      const calls = []; let armed = false, count = 0;
      const { apply, ownKeys, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
      const seen = new Set(), queue = [globalThis, getPrototypeOf(function* () {}), getPrototypeOf(async function* () {}).prototype, getPrototypeOf([][Symbol.iterator]()), getPrototypeOf(Int8Array)];
      const owners = [];
      while (queue.length > 0) {
        const o = queue.pop();
        if (Object(o) !== o || seen.has(o)) continue;
        seen.add(o); owners[owners.length] = o;
        for (const key of ownKeys(o)) { const d = getOwnPropertyDescriptor(o, key); for (const v of [d.value, d.get, d.set]) queue.push(v); }
        queue.push(getPrototypeOf(o));
      }
      const plan = [];
      for (let i = 0; i < owners.length; i++) for (const key of ownKeys(owners[i])) {
        const d = getOwnPropertyDescriptor(owners[i], key);
        if (!d.configurable && !d.writable || key === 'constructor' || key === 'prototype') continue;
        for (const part of ['value', 'get', 'set']) if (typeof d[part] === 'function') {
          const original = d[part]; const name = String(key);
          const spy = { [name](...args) { if (armed) calls[count++] = name; if (new.target) return Reflect_construct(original, args, new.target === spy ? original : new.target); return apply(original, this, args) } }[name];
          if (typeof original.prototype !== 'object') plan[plan.length] = [owners[i], key, { ...d, [part]: spy }];
        }
      }
      const Reflect_construct = Reflect.construct;
      for (let i = 0; i < plan.length; i++) try { defineProperty(plan[i][0], plan[i][1], plan[i][2]) } catch {}
      armed = true;
      const told = await use();
      armed = false;
      export default [plan.length > 500 || plan.length, count, calls.slice(0, 20).map((name) => 'LEAK trusted code called ' + name), told.length]`,
    options: { modules },
  },
  {
    name: 'accessors for every name on Object.prototype and Array.prototype',
    source: `
      ${USE}
      const seen = new Set(); let armed = false;
      const names = 'get set value writable enumerable configurable then catch text bytes kinds table value wire functionTable limits root parent via key next last full met written room tail elements functions numbers bytesUsed copy arguments result reference promise timeout release name message stack cause code id fn ok args with type what hint resolve reject maxBytes maxElements maxDepth inFlight buffer index groups input raw 0 1 2 3 4 5 10 length'.split(' ');
      for (const proto of [Object.prototype, Array.prototype, Function.prototype])
        for (const name of names) {
          if (Object.hasOwn(proto, name)) continue;
          Object.defineProperty(proto, name, { __proto__: null, configurable: true, get() { if (armed) seen.add('get ' + name); return undefined }, set(v) { if (armed) seen.add('set ' + name); Object.defineProperty(this, name, { __proto__: null, value: v, writable: true, enumerable: true, configurable: true }) } });
        }
      armed = true; const told = await use(); armed = false;
      const found = [...seen].filter((each) => !/^get (then|with)$/.test(each));
      for (const proto of [Object.prototype, Array.prototype, Function.prototype]) for (const name of names) if (name !== 'length' && name !== 'name' && name !== 'arguments') delete proto[name];
      export default [found.map((each) => 'LEAK trusted code did ' + each), told.length]`,
    options: { modules },
  },
  {
    name: 'a then on Object.prototype',
    source: `
      import { make, walk } from './probe';
      ${USE}
      const got = [];
      Object.defineProperty(Object.prototype, 'then', { configurable: true, get() { got.push(this); return undefined } });
      const told = await use();
      delete Object.prototype.then;
      export default [walk(...got), told.length]`,
    options: { modules },
  },
  {
    name: 'a then on Object.prototype that takes over',
    source: `
      import { walk } from './probe';
      const got = [];
      Object.prototype.then = function (resolve, reject) { got.push(this, resolve, reject); resolve(1) };
      const told = [await host({ a: 1 }).catch((e) => e.name), await import('./m')];
      delete Object.prototype.then;
      export default [walk(...got), told]`,
    options: { modules },
  },
  {
    name: 'setters for indices on Array.prototype',
    source: `
      ${USE}
      for (let i = 0; i < 20; i++) Object.defineProperty(Array.prototype, i, { configurable: true, set(v) { caught++ }, get() { caught++; return undefined } });
      let caught = 0;
      report({ a: [1, 2] }); console.log(1, [2]); const answer = await host([[1], { b: [2, 3] }]);
      for (let i = 0; i < 20; i++) delete Array.prototype[i];
      export default [caught, answer]`,
    options: { modules },
  },
  {
    name: 'a toJSON on every prototype',
    source: `
      ${USE}
      for (const C of [Object, Array, String, Number, Boolean, BigInt, Function, Date]) C.prototype.toJSON = function () { return 'LEAK toJSON was asked' };
      const told = await use();
      for (const C of [Object, Array, String, Number, Boolean, BigInt, Function, Date]) delete C.prototype.toJSON;
      export default told.length`,
    options: { modules },
  },
  {
    name: 'Promise, replaced and crippled',
    source: `
      import { walk } from './probe';
      ${USE}
      const got = [], Native = Promise;
      globalThis.Promise = function (...args) { got.push(...args); return new Native(...args) };
      Native.prototype.then = new Proxy(Native.prototype.then, { apply: (t, self, args) => { got.push(self, ...args); return Reflect.apply(t, self, args) } });
      Native.resolve = Native.reject = Native.all = (...args) => { got.push('LEAK a static method', ...args) };
      Object.defineProperty(Native, Symbol.species, { get() { got.push(this); return Native } });
      const told = await use();
      export default [walk(...got), got.filter((x) => typeof x === 'string'), told.length]`,
    options: { modules },
  },
  {
    name: 'globals that the engine looks up by name',
    source: `
      ${USE}
      const { defineProperty, getOwnPropertyNames } = Object;
      for (const name of getOwnPropertyNames(globalThis)) if (!/^(undefined|NaN|Infinity|globalThis|Symbol|Date|Map|Set|Uint8Array|Error|WeakMap|Promise)$/.test(name)) defineProperty(globalThis, name, { get() { return () => { throw 'LEAK ' + name } }, configurable: true });
      const told = await use();
      export default told.length`,
    options: { modules },
  },
  {
    name: 'prototypes of the prototypes',
    source: `
      import { tried } from './probe';
      ${USE}
      const told = [tried(() => Object.setPrototypeOf(Object.prototype, {})), tried(() => Object.setPrototypeOf(Array.prototype, new Proxy(Object.create(null), {}))), tried(() => Object.setPrototypeOf(Function.prototype, new Proxy(Object.create(Object.prototype), {}))), tried(() => Object.setPrototypeOf(Promise.prototype, null)), tried(() => Object.setPrototypeOf(globalThis, new Proxy({}, {}))), tried(() => Object.setPrototypeOf(Map.prototype, host))];
      const used = await use();
      export default [told, used.length]`,
    options: { modules },
  },
  {
    name: 'everything frozen, and extensions prevented',
    source: `
      ${USE}
      const seen = new Set(), queue = [globalThis, host, report, console];
      while (queue.length > 0) { const o = queue.pop(); if (Object(o) !== o || seen.has(o)) continue; seen.add(o); for (const d of Object.values(Object.getOwnPropertyDescriptors(o))) queue.push(d.value, d.get, d.set); queue.push(Object.getPrototypeOf(o)); }
      for (const o of seen) try { Object.freeze(o) } catch {}
      export default (await use()).length`,
    options: { modules },
  },
  {
    name: 'symbols that steer the engine',
    source: `
      ${USE}
      const seen = [];
      for (const s of ['species', 'toPrimitive', 'isConcatSpreadable', 'unscopables', 'match', 'replace', 'split', 'search', 'asyncIterator', 'dispose'])
        for (const C of [Object, Array, String, Map, Set, RegExp]) try { Object.defineProperty(C.prototype, Symbol[s], { get() { seen.push(s); return undefined }, configurable: true }) } catch {}
      const told = await use();
      export default [seen, told.length]`,
    options: { modules },
  },
];
