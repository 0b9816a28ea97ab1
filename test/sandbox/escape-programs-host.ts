/** Escape programs that attack what the host provides: its functions, `report`, `console`, `globalThis`. */
import type { EscapeProgram } from './escape-program.ts';

export const HOST_FUNCTIONS: readonly EscapeProgram[] = [
  {
    name: 'a walk through everything that can be reached',
    source: `
      import * as self from './self';
      import * as lib from 'lib';
      import { walk } from './probe';
      const pending = host(1), module = import('./self');
      const odd = walk(globalThis, host, fail, call, report, console, import.meta, self, lib, lib.default, pending, module, await module, await pending,
        await host({ a: [1, new Map([[{}, new Set()]]), new Date(), /x/, new Error('x')] }), await fail('x').catch((e) => e), (function () { return arguments })(), /(a)/.exec('a'), self.default);
      export default odd`,
    options: { modules: { './self': 'export default import.meta; export * as ns from "./self"' } },
  },
  {
    name: 'the properties of a host function',
    source: `
      import { make, tried } from './probe';
      export default [Reflect.ownKeys(host).map(String), make(host.constructor), tried(() => host.caller), tried(() => host.arguments), tried(() => new host()), host.toString(),
        tried(() => host.secret), Object.getOwnPropertySymbols(host).length, host.prototype, host.__proto__ === Function.prototype, typeof host.call, Object.isExtensible(host)]`,
  },
  {
    name: 'a this, by every way to give one',
    source: `
      const me = { secret: 1 };
      export default [await host.call(me, 1), await host.apply(me, [2]), await host.bind(me, 3)(), await Reflect.apply(host, me, [4]), await ({ host }).host(5), await (class { static host = host }).host(6), await new (class { host = host })().host(7)]`,
  },
  {
    name: 'a host function that is changed and passed back',
    source: `
      host.mine = 1; host.toString = () => 'mine'; host[Symbol.toPrimitive] = () => 'mine';
      Object.defineProperty(host, 'name', { value: 'constructor' }); Object.setPrototypeOf(host, null);
      export default [await isHost(host), await isHost(Object.freeze(host))]`,
  },
  {
    name: 'a host function behind a Proxy, bound, or wrapped',
    source: `
      const seen = [];
      const trap = new Proxy(host, new Proxy({}, { get: (t, name) => (...args) => { seen.push(name); return Reflect[name](...args) } }));
      const behind = await isHost(trap), bound = await isHost(host.bind());
      seen.length = 0;
      const answer = await call(trap, 'x');
      export default [behind, bound, await isHost(host), answer, seen]`,
  },
  {
    name: 'private fields stamped onto what the host gave',
    source: `
      import { tried } from './probe';
      class Give { constructor(o) { return o } }
      class Stamp extends Give { #x = 1; static has(o) { return #x in o } }
      export default [host, report, console, import.meta, await host({})].map((o) => tried(() => { new Stamp(o); return Stamp.has(o) }))`,
  },
  {
    name: 'arguments that are not what they seem',
    source: `
      const odd = { length: 2, 0: 'a', 1: 'b' };
      const lying = new Proxy(['a'], { get: (t, k) => k === 'length' ? 3 : k === Symbol.iterator ? undefined : t[k] });
      const say = (e) => e.name;
      export default [await Reflect.apply(host, undefined, odd), await Reflect.apply(host, undefined, lying).catch(say), await host(...'ab'), await host.apply(undefined, { length: 0 }), await host(new Array(3)), await host(Object.assign([1], { length: 1, x: 2 }))]`,
  },
  {
    name: 'functions, more than there may be',
    source: `
      let last = 'none';
      for (let i = 0; i < 200; i++) { try { await host(Array.from({ length: 100 }, () => () => i)) } catch (e) { last = e.message; break } }
      export default last`,
  },
  {
    name: 'a callback that calls while it is called',
    source: `
      let depth = 0;
      const again = async () => { depth++; return depth < 40 ? call(again) : 'bottom' };
      export default [await call(again), depth]`,
  },
  {
    name: 'a callback that answers with thenables and proxies',
    source: `
      const say = (e) => e.name + ': ' + e.message;
      const odd = [() => ({ then(f) { f({ then(g) { g('twice') } }) } }), () => new Proxy({}, { get: (t, k) => k === 'then' ? undefined : 'trapped' }), () => ({ a: { then() {} } }),
        () => new Proxy(Promise.resolve(1), {}), () => Promise.reject(new Proxy(new Error('x'), {})), async () => { throw { name: { toString() { throw 1 } } } }];
      export default await Promise.all(odd.map((f) => call(f).catch(say)))`,
  },
  {
    name: 'a callback that is called after its run',
    source: `
      let calls = 0;
      await call(async () => { calls++; });
      export default { calls, later: () => globalThis, thrower: () => { throw new Error('late') } }`,
  },
  {
    name: 'the report function',
    source: `
      import { make, tried, walk } from './probe';
      export default [walk(report), make(report.constructor), tried(() => new report(1)), tried(() => report.call(host, 2)), report.length, Reflect.ownKeys(report).map(String), tried(() => report()), tried(() => report(1, 2))]`,
  },
  {
    name: 'the console',
    source: `
      import { make, tried, walk } from './probe';
      const told = [tried(() => { console.log = 1 }), tried(() => { console.x = 1 }), tried(() => delete console.log), tried(() => Object.setPrototypeOf(console, null)), 'console' in globalThis, 'Console' in console, typeof console._stdout];
      console.log(walk(console)); console.dir(console); console.table([1]); console.assert(false, 'asserted'); console.trace('x');
      export default [told, walk(console), make(console.log.constructor), tried(() => new console.log())]`,
  },
  {
    name: 'logged values with methods for whoever prints them',
    source: `
      const deed = () => { report('LEAK called') };
      const odd = { toString: deed, valueOf: deed, toJSON: deed, inspect: deed, [Symbol.toPrimitive]: deed, [Symbol.for('nodejs.util.inspect.custom')]: deed, get [Symbol.toStringTag]() { deed() } };
      console.log('%s %o %d', odd, odd, odd); console.error(odd, [odd], new Map([[odd, odd]]), new Set([odd])); console.info(deed, class A { static toString() { deed() } });
      export default 'logged'`,
  },
  {
    name: 'logged values that throw, lie or never end',
    source: `
      const revoked = Proxy.revocable({}, {}); revoked.revoke();
      const endless = () => new Proxy({}, { get: () => endless(), ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) });
      console.log(revoked.proxy, { get a() { throw host } }, new Proxy([], { get() { throw new Proxy({}, { get() { throw 1 } }) } }));
      console.log(endless(), Symbol('s'), new WeakMap(), globalThis, import.meta, 1n << 100n);
      export default 'logged'`,
  },
  {
    name: 'results that are functions',
    source: `
      const f = () => 1; f.secret = host; f[Symbol.iterator] = host; f.then = host; f.toJSON = host;
      export default { f, twice: [f, f], self: host, bound: host.bind(null), kinds: [async () => {}, function* () {}, class A {}] }`,
  },
  {
    name: 'values for the host that carry its own functions',
    source: `
      export default [await host({ a: host, b: [report.bind(null)] }) !== undefined, await isHost((await host({ host })).host), await call(host, host) === host]`,
  },
];
