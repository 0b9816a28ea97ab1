/** Escape programs that use corners of the language and of the engine. */
import type { EscapeProgram } from './escape-program.ts';

export const LANGUAGE: readonly EscapeProgram[] = [
  {
    name: 'this, callers and callees',
    source: `
      import { tried } from './probe';
      function f() { return [this, tried(() => f.caller), tried(() => f.arguments), tried(() => arguments.callee)] }
      export default [f(), typeof this, [1].map(f)[0], tried(() => f.call(null)[0]), await call(f), (() => { try { return typeof arguments } catch (e) { return e.name } })()]`,
  },
  { name: 'a with statement', source: 'with (globalThis) { report(process) }', status: 'link_error' },
  {
    name: 'an octal and a delete of a name',
    source: 'var x = 010; delete x; export default "LEAK"',
    status: 'link_error',
  },
  { name: 'a return and an await outside', source: 'return globalThis', status: 'link_error' },
  {
    name: 'shared memory and its waits',
    source: `
      import { tried } from './probe';
      const names = ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'structuredClone', 'Worker', 'MessageChannel', 'BroadcastChannel'];
      const buffers = [new ArrayBuffer(8), new ArrayBuffer(8, { maxByteLength: 16 }), new Uint8Array(8).buffer, new ArrayBuffer(8).transfer(4)];
      export default [names.map((n) => typeof globalThis[n]), names.map((n) => tried(() => Reflect.get(globalThis, n).toString())), buffers.map((b) => [Object.prototype.toString.call(b), b.constructor.name, b.growable])]`,
  },
  {
    name: 'legacy statics of RegExp after trusted code ran',
    source: `
      const look = () => ['$1', '$2', '$9', 'input', '$_', 'lastMatch', '$&', 'lastParen', 'leftContext', 'rightContext'].map((k) => RegExp[k]).join('|');
      /(mine)/.exec('mine');
      const told = [look()];
      await host({ path: 'x' }); told.push(look());
      await host({ 'a b': Symbol() }).catch(() => {}); told.push(look());
      await fail('x').catch(() => {}); told.push(look()); await import('./none').catch(() => {}); told.push(look());
      export default told`,
  },
  {
    name: 'time zone, locale and calendar',
    source: `
      const o = new Intl.DateTimeFormat().resolvedOptions();
      if (o.timeZone !== 'UTC' || new Date(0).getTimezoneOffset() !== 0 || !o.locale.startsWith('en')) report('LEAK ' + JSON.stringify(o));
      export default [o, new Date(0).toString(), new Date(2020, 6, 1).toLocaleString(), new Intl.NumberFormat().format(1.5), typeof Temporal, Intl.supportedValuesOf('timeZone').length > 0]`,
  },
  {
    name: 'async generators that are asked oddly',
    source: `
      import { walk } from './probe';
      const got = [];
      const t = { then(...args) { got.push(this, ...args); args[0](1) } };
      const g = async function* () { try { yield t; yield* { [Symbol.asyncIterator]() { return { next: () => t, return: () => t, throw: () => t } } } } finally { yield host(1) } };
      const a = g(), b = g();
      const all = [a.next(), a.return(t), a.throw(t), b.next(t), b.throw(host), b.return(Promise.reject(1)), g().return(t), g().throw(t)];
      got.push(...await Promise.allSettled(all));
      for await (const x of [t, host(2)]) got.push(x);
      export default walk(...got)`,
  },
  {
    name: 'thenables that settle again and again',
    source: `
      import { walk } from './probe';
      const got = [];
      const t = { get then() { got.push(this); return (f, r) => { got.push(f, r); f({ then(g, s) { got.push(g, s); g('inner'); s('no'); throw 1 } }); f(host); r(host); throw host } } };
      const told = [await t, await Promise.resolve(t), await (async () => t)(), await Promise.all([t, t])];
      export default [walk(...got), told]`,
  },
  {
    name: 'a result that is a thenable with a hold on the driver',
    source: `
      import { make, walk } from './probe';
      let kept;
      export default () => ({ then(...args) { report(walk(this, ...args)); report(args.map((f) => make(f.constructor))); kept = args; args[0]({ then(f) { f('end'); f('again'); kept[0]('third'); kept[1](host) } }); } })`,
  },
  {
    name: 'a settled run that goes on',
    source: `
      export default (() => { (async () => { for (let i = 0; i < 1000; i++) { await null; try { report('late ' + i) } catch {} void host('late').catch(() => {}); } })(); return 'settled' })()`,
  },
  {
    name: 'names of the engine: natives and intrinsics by percent',
    source: 'export default %DebugPrint(host)',
    status: 'link_error',
  },
  {
    name: 'labels, and keywords as names',
    source: `
      report: for (;;) { host: { break report; } }
      const of = 1, async = 2, get = 3, as = 4, from = 5, type = 6;
      export default [of, async, get, as, from, type, ((x) => { host: x })(1)]`,
  },
  {
    name: 'getters on globalThis in the place of builtins',
    source: `
      import { walk } from './probe';
      const got = [];
      for (const name of ['undefined', 'Promise', 'Array', 'Object', 'Symbol', 'Map', 'JSON'])
        try { const value = globalThis[name]; Object.defineProperty(globalThis, name, { configurable: true, get() { got.push(this); return value } }) } catch {}
      report([1]); await host({ a: 1 }); await import('./none').catch(() => {}); await fail('x').catch(() => {});
      export default [got.length, walk(...got)]`,
  },
  {
    name: 'species and spreadables of arrays that go out and come in',
    source: `
      class L extends Array { static get [Symbol.species]() { report('LEAK species'); return host } }
      Object.defineProperty(Array, Symbol.species, { get() { return L }, configurable: true });
      Object.defineProperty(Array.prototype, Symbol.isConcatSpreadable, { get() { report('LEAK spreadable') }, configurable: true });
      const back = await host([[1, 2], [3]]); report([1, 2]); console.log([1], 2);
      export default [Object.getPrototypeOf(back) === Array.prototype, back.length]`,
  },
  {
    name: 'ids and counters that are asked to overflow',
    source: `
      const calls = []; for (let i = 0; i < 3000; i++) calls.push(host(i));
      const all = await Promise.all(calls);
      export default [all.length, all.every((x, i) => x === i)]`,
  },
  {
    name: 'symbols of the registry, and well-known ones',
    source: `
      const s = Symbol.for('everthread'), well = Object.getOwnPropertyNames(Symbol).filter((k) => typeof Symbol[k] === 'symbol');
      const say = (e) => e.name;
      export default [await host(s).catch(say), await host({ [s]: 1, [Symbol.iterator]: host }), well.map((k) => Symbol.keyFor(Symbol[k])), await call((x) => typeof x, Symbol.keyFor(s))]`,
  },
  {
    name: 'Intl objects and their hidden references',
    source: `
      import { walk } from './probe';
      const made = ['NumberFormat', 'DateTimeFormat', 'Collator', 'PluralRules', 'ListFormat', 'RelativeTimeFormat', 'Segmenter', 'DurationFormat'].filter((k) => Intl[k]).map((k) => new Intl[k]('en'));
      const symbols = made.flatMap((o) => Object.getOwnPropertySymbols(Object.getPrototypeOf(o)));
      const legacy = Intl.NumberFormat.call(Object.create(Intl.NumberFormat.prototype));
      export default [walk(...made, legacy, new Intl.Locale('en')), symbols.length]`,
  },
  {
    name: 'typescript in the place of javascript',
    source: `
      enum E { A = (() => { try { return (() => {}).constructor('return 1')() } catch (e) { return 7 } })() }
      class C { constructor(private readonly x: any = E) {} get() { return this.x } }
      declare const process: any;
      export default [E.A, typeof process, typeof (globalThis as any).process, <any>new C().get() === E]`,
    options: { language: 'typescript' },
  },
];
