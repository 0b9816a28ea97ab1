/** Escape programs that look for a constructor that still makes code from text. */
import type { EscapeProgram } from './escape-program.ts';

export const CONSTRUCTORS: readonly EscapeProgram[] = [
  {
    name: 'a newTarget that is a disabled constructor',
    source: `
      import { make } from './probe';
      const kinds = [() => {}, async () => {}, function* () {}, async function* () {}].map((f) => f.constructor);
      export default kinds.flatMap((K) => [make(K), (() => {
        for (const C of [Object, Array, Map, Promise, Error, class {}]) {
          try { const o = Reflect.construct(C, [() => {}], K); if (typeof o === 'function') return 'LEAK'; } catch {}
        }
        return 'closed';
      })()])`,
  },
  {
    name: 'class fields and static blocks',
    source: `
      import { make } from './probe';
      const told = [];
      class A { x = told.push(make(this.constructor.constructor)); static { told.push(make(this.constructor)); } static y = told.push(make((() => this).constructor)); }
      new A();
      class B extends A.constructor {}
      told.push(make(B));
      export default told`,
  },
  {
    name: 'a getter named constructor on Object.prototype',
    source: `
      import { make } from './probe';
      const seen = [];
      Object.defineProperty(Object.prototype, 'constructor', { configurable: true, get() { seen.push(this); return Object; } });
      await host({ a: 1 }); report([1]);
      export default [seen.length, seen.map((s) => typeof s === 'function' ? make(s) : 'closed')]`,
  },
  {
    name: 'a Promise subclass with a species of its own',
    source: `
      import { make, walk } from './probe';
      const got = [];
      class Spy extends Promise {
        constructor(executor) { super((resolve, reject) => { got.push(resolve, reject); executor(resolve, reject); }); }
        static get [Symbol.species]() { return Spy; }
      }
      Object.defineProperty(Promise.prototype, 'constructor', { value: Spy, configurable: true });
      const p = host(1).then((x) => x);
      await p;
      export default [got.map((f) => make(f.constructor)), walk(...got)]`,
  },
  {
    name: 'a tagged template',
    source: `
      import { tried } from './probe';
      export default [tried(() => (() => {}).constructor\`return globalThis\`), tried(() => Reflect.apply\`\${Function}\`)]`,
  },
  {
    name: 'default parameters and destructured ones',
    source: `
      import { tried } from './probe';
      const f = (a = (() => {}).constructor('return 1')) => a;
      const g = ({ constructor: C } = () => {}) => C('return 1');
      const h = ([a = f.constructor] = []) => a('return 1');
      export default [tried(() => f()), tried(() => g()), tried(() => h())]`,
  },
  {
    name: 'the reviver of JSON and the callback of replace',
    source: `
      import { make, walk } from './probe';
      const got = [];
      JSON.parse('{"a":[1,{"b":2}]}', function (...args) { got.push(this, ...args); return args[1]; });
      'abc'.replace(/b/g, function (...args) { got.push(this, ...args); return ''; });
      JSON.stringify({ a: { toJSON(...args) { got.push(this, ...args); } } }, function (...args) { got.push(this, ...args); return args[1]; });
      export default walk(...got)`,
  },
  {
    name: 'callbacks with a this that is given',
    source: `
      import { walk } from './probe';
      const got = [];
      Array.from([1], function (...args) { got.push(this, ...args); }, host);
      [1].forEach(function (...args) { got.push(this, ...args); }, report);
      new Map([[1, 2]]).forEach(function (...args) { got.push(this, ...args); }, console);
      Object.groupBy([1], function (...args) { got.push(this, ...args); });
      await Array.fromAsync([1], function (...args) { got.push(this, ...args); });
      export default walk(...got)`,
  },
  {
    name: 'iterator helpers and their prototypes',
    source: `
      import { walk, tried } from './probe';
      const it = Iterator.from({ next() { return { done: true } } });
      const helpers = [it.map((x) => x), it.filter(Boolean), it.take(1), it.drop(0), it.flatMap((x) => [x])];
      tried(() => { Iterator.prototype.constructor = Function; });
      tried(() => { Iterator.prototype[Symbol.toStringTag] = 'x'; });
      export default walk(it, ...helpers, [][Symbol.iterator](), 'a'.matchAll(/a/g), new Map().entries(), new Intl.Segmenter().segment('a')[Symbol.iterator]())`,
  },
  {
    name: 'generators of both kinds',
    source: `
      import { make, walk } from './probe';
      const g = (function* () { yield 1 })(), a = (async function* () { yield 1 })();
      const up = (o) => { const all = []; for (let p = o; p; p = Object.getPrototypeOf(p)) all.push(p); return all; };
      const all = [...up(g), ...up(a), ...up(Object.getPrototypeOf(g)), ...up(function* () {}), ...up(async function* () {})];
      export default [all.map((p) => make(p.constructor)), walk(...all, a.next(), a.return(host))]`,
  },
  {
    name: 'bound, proxied and revoked functions',
    source: `
      import { make } from './probe';
      const { proxy, revoke } = Proxy.revocable(function () {}, {});
      const C = proxy.constructor; const made = [make(C)];
      revoke();
      made.push(make(revoke.constructor), make(Math.max.bind().constructor.bind()), make(new Proxy(C, { construct: (t, args) => Reflect.construct(t, args) })), make(new Proxy(class extends C {}, {})));
      export default made`,
  },
  {
    name: 'changing what the disabled constructors are',
    source: `
      import { make, tried } from './probe';
      const P = Object.getPrototypeOf(() => {}), D = P.constructor;
      export default [
        tried(() => delete P.constructor), tried(() => Object.defineProperty(P, 'constructor', { value: Object })),
        tried(() => { P.constructor = 1 }), tried(() => Object.setPrototypeOf(D, null)), tried(() => { D.prototype = {} }),
        make(D), make(class extends D {}), make(Object.getOwnPropertyDescriptor(P, 'constructor').value),
        tried(() => D.call(P, 'return 1')), tried(() => D.apply(null, ['return 1'])), tried(() => new D('return 1')),
        tried(() => Reflect.apply(D, host, ['return 1'])), D === Function]`,
  },
  {
    name: 'super, new.target and classes that extend null',
    source: `
      import { make, tried } from './probe';
      class A { get up() { return super.constructor.constructor } target() { return new.target } }
      class N extends null { static make() { return super.constructor } }
      function T() { return new.target.constructor }
      export default [make(new A().up), make(A.constructor), tried(() => make(N.make())), tried(() => make(new T()))]`,
  },
  {
    name: 'accessors of builtins',
    source: `
      import { make } from './probe';
      const told = new Set();
      for (const owner of [Map.prototype, RegExp, RegExp.prototype, Symbol.prototype, ArrayBuffer.prototype, Object.getPrototypeOf(Int8Array.prototype), Object.prototype, DataView.prototype, Iterator.prototype])
        for (const { get, set } of Object.values(Object.getOwnPropertyDescriptors(owner)).concat(Object.getOwnPropertySymbols(owner).map((s) => Object.getOwnPropertyDescriptor(owner, s))))
          for (const f of [get, set]) if (f) told.add(make(f.constructor));
      export default [...told]`,
  },
  {
    name: 'functions that the engine makes',
    source: `
      import { walk, tried } from './probe';
      let resolvers; new Promise((...args) => { resolvers = args; });
      const thrower = (function () { 'use strict'; return Object.getOwnPropertyDescriptor(arguments, 'callee').get })();
      const stack = new DisposableStack(); const given = [];
      stack.defer(function (...args) { given.push(this, ...args) }); stack.use({ [Symbol.dispose]() { given.push(this) } }); stack.dispose();
      export default walk(...resolvers, thrower, Proxy.revocable({}, {}).revoke, new Intl.NumberFormat().format, new Intl.Collator().compare,
        new Intl.DateTimeFormat().format, Promise.withResolvers().resolve, stack, ...given, Symbol.for('x'), Object(Symbol.iterator))`,
  },
  {
    name: 'weak references and finalizers',
    source: `
      import { walk } from './probe';
      const got = [];
      const registry = new FinalizationRegistry(function (...args) { got.push(this, ...args) });
      for (let i = 0; i < 1e4; i++) registry.register({ i: new Array(100) }, host);
      const weak = new WeakRef(host);
      await host(1);
      export default [walk(registry, weak, weak.deref(), ...got), weak.deref() === host]`,
  },
  {
    name: 'constructors that are given to static methods as this',
    source: `
      import { walk, tried } from './probe';
      const got = [];
      function C(executor) { if (typeof executor === 'function') executor((...args) => got.push(...args), (...args) => got.push(...args)); this.made = arguments; got.push(this); }
      C.resolve = (x) => ({ then(...args) { got.push(...args) } });
      for (const method of ['all', 'race', 'any', 'allSettled', 'resolve', 'reject', 'withResolvers', 'try'])
        tried(() => got.push(Promise[method].call(C, [host(1)])));
      tried(() => got.push(Array.from.call(C, [1]), Array.of.call(C, 1), Object.getPrototypeOf(Int8Array).from.call(C, [1])));
      await null;
      export default walk(...got)`,
  },
  {
    name: 'instanceof, with hasInstance that lies',
    source: `
      import { tried } from './probe';
      const got = [];
      for (const C of [Promise, Error, Map, Array, Object, Date, RegExp])
        tried(() => Object.defineProperty(C, Symbol.hasInstance, { value(x) { got.push(x); return true }, configurable: true }));
      await host({ a: new Date(0), b: new Map() }); report(new Error('x')); console.log(/x/); await fail('no').catch(() => {});
      export default [got.length, (() => {}) instanceof Function]`,
  },
];
