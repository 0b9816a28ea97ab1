/** Escape programs made of modules: which specifiers they use, what they export, when they run. */
import type { EscapeProgram } from './escape-program.ts';

/** A specifier that does not resolve ends the run before any of its code runs. */
const guess = (specifier: string): EscapeProgram => ({
  name: `an import of ${JSON.stringify(specifier)}`,
  source: `import * as ns from ${JSON.stringify(specifier)}; export default ['LEAK', Object.keys(ns)]`,
  status: 'link_error',
});

export const MODULES: readonly EscapeProgram[] = [
  ...[
    'boot',
    'target',
    'sandbox:internal',
    'g0',
    '',
    '0123456789abcdef01234567',
    '../boot',
    './<runCode>',
    'node:fs',
    'everthreadBoot',
  ].map(guess),
  {
    name: 'guesses at internal specifiers by import()',
    source: `
      import { walk } from './probe';
      const guesses = ['boot', 'target', 'sandbox:internal', 'sandbox:<runCode>', '<runCode>', 'internal', 'guest/boot', './guest/boot.ts', '../../src/sandbox/guest/boot.ts', 'data:text/javascript,export default 1', 'file:///etc/passwd', '/etc/passwd', 'node:fs', '#internal', '\\0', ' ', 'lib/x', 'lib/', './lib', '__proto__', 'hasOwnProperty', '\\ud800'];
      const got = await Promise.all(guesses.map((g) => import(g).then((ns) => 'LEAK ' + g, (e) => e)));
      export default [got.filter((x) => typeof x === 'string'), walk(...got), got.every((e) => e instanceof TypeError)]`,
  },
  {
    name: 'specifiers that are objects with deeds',
    source: `
      import { walk } from './probe';
      const got = [];
      let n = 0;
      const turning = { toString() { got.push(this); return n++ === 0 ? './m' : 'node:fs' } };
      const odd = [turning, turning, { [Symbol.toPrimitive](hint) { got.push(hint); void import('./m'); return './m' } }, { toString() { throw host } }, Symbol('x'), null, undefined, 1, ['./m'], new Proxy({}, { get: (t, k) => { got.push(k); return undefined } }), host];
      const told = await Promise.allSettled(odd.map((s) => import(s)));
      export default [told.map((x) => x.status), walk(...got, ...told)]`,
    options: { modules: { './m': 'export default 1' } },
  },
  {
    name: 'options of import() with deeds',
    source: `
      import { walk } from './probe';
      const got = [];
      const spy = (t) => new Proxy(t, { get: (t, k, r) => { got.push(r, k); return Reflect.get(t, k) }, ownKeys: (t) => { got.push(t); return Reflect.ownKeys(t) } });
      const odd = [spy({ with: spy({ type: 'json' }) }), { get with() { throw host } }, { with: { type: 'css' } }, { with: null }, { with: 1 }, null, 1, spy([]), { with: { get type() { got.push(this); return 'json' } } }];
      const told = await Promise.allSettled(odd.map((o) => import('./m', o)));
      export default [told.map((x) => x.reason?.message ?? x.status), walk(...got)]`,
    options: { modules: { './m': 'export default 1' } },
  },
  {
    name: 'a module that exports then',
    source: `
      import { make, walk } from './probe';
      const got = globalThis.got = [];
      const told = await Promise.race([import('./m'), host('timeout')]);
      export default [walk(...got), got.map((f) => make(f.constructor))]`,
    options: {
      modules: {
        './m':
          'export function then(...args) { globalThis.got.push(this, ...args); args[0]?.({ then(...more) { globalThis.got.push(...more) } }) }',
      },
    },
  },
  {
    name: 'exports with names that mean something elsewhere',
    source: `
      import * as ns from './m';
      const x = 1; const f = () => 'f';
      export { x as __proto__, x as constructor, x as hasOwnProperty, f as toString, x as 'a b', x as valueOf };
      export default [Object.keys(ns), Object.getPrototypeOf(ns), ns.__proto__, await host({ ...ns }), { ...(await import('./m')) }]`,
    options: {
      modules: {
        './m': 'const x = 2; export { x as __proto__, x as constructor, x as default, x as "then " }',
      },
    },
  },
  {
    name: 'a circle of modules that read each other too early',
    source: `
      import { early, late } from './a';
      export const mine = 'mine';
      export default [early, late(), typeof self]
      import * as self from './b';`,
    options: {
      modules: {
        './a':
          'import { b } from "./b"; export const late = () => b; export let early; try { early = b } catch (e) { early = e.name } export const a = () => [typeof host, typeof report, typeof import.meta.url]',
        './b': 'import { a } from "./a"; export let b; try { b = a() } catch (e) { b = e.name }',
      },
    },
  },
  {
    name: 'import.meta, changed and passed on',
    source: `
      import { tried, walk } from './probe';
      import other from './m';
      const meta = import.meta;
      meta.url = 'file:changed'.slice(5); meta.x = host; meta.__proto__ = { y: 1 };
      export default [walk(meta, other), Object.getPrototypeOf(meta), meta.x === host, other.x, other.url, meta === other, tried(() => Object.setPrototypeOf(meta, host)), (await import('./m')).again().url, typeof meta.resolve, typeof meta.dirname, typeof meta.filename, typeof meta.main]`,
    options: { modules: { './m': 'export default import.meta; export const again = () => import.meta' } },
  },
  {
    name: 'import attributes of other kinds',
    source: `import x from './d.json' with { type: 'css' }; export default 'LEAK'`,
    options: { modules: { './d.json': '{}' } },
    status: 'link_error',
  },
  {
    name: 'JSON with keys of prototypes',
    source: `
      import d from './d.json' with { type: 'json' };
      export default [Object.getPrototypeOf(d) === Object.prototype, Object.keys(d), ({}).leaked, d.__proto__, JSON.stringify(d)]`,
    options: {
      modules: {
        './d.json':
          '{"__proto__": {"leaked": 1}, "\\u005f_proto__": 2, "a": "\\u2028//\\u0000", "constructor": {"prototype": {"leaked": 3}}}',
      },
    },
  },
  {
    name: 'JSON that ends its module and begins another',
    source: `import d from './d.json'; export default d`,
    options: { modules: { './d.json': '1; import "node:fs"; export default globalThis' } },
    status: 'link_error',
  },
  {
    name: 'the globals, exported again and imported from elsewhere',
    source: `
      import * as again from './m';
      import { walk } from './probe';
      export { host, report as r, console as c };
      export default [again.host === host, again.console === console, again.report === report, walk(again), Object.keys(again)]`,
    options: {
      modules: {
        './m': 'export { host, report, console }; export * from "lib"; export { default } from "lib"',
      },
    },
  },
  {
    name: 'the names of what was rewritten, read from functions',
    source: `
      const text = (() => [import('./m'), import.meta]).toString();
      const names = text.match(/\\$[\\w$]+/g) ?? [];
      const { tried } = await import('./probe');
      export default [names.length, tried(() => globalThis[names[0]]), names.map((n) => n in globalThis), Object.keys(await import('./m'))]`,
    options: { modules: { './m': 'export default 1' } },
  },
  {
    name: 'names that the sandbox uses for itself',
    source: `
      const g0 = 1, g1 = 2, meta = 3, load = 4, ns = 5, start = 6, loaded = 7, importOf = 8, globalOf = 9, metaOf = 10, loadFrom = 11, port = 12, deliver = 13, install = 14;
      var boot = 15; function target() {} class say {}
      export { start, loaded, ns, deliver, install, g0, meta, load };
      export default [g0, meta, load, typeof import.meta.url, typeof host, (await import('./m')).default]`,
    options: { modules: { './m': 'export default 1' } },
  },
  {
    name: 'the namespaces of imports, written to',
    source: `
      import * as lib from 'lib';
      import { tried } from './probe';
      export default [tried(() => { lib.host = 1 }), Reflect.set(lib, 'x', 1), Reflect.defineProperty(lib, 'host', { value: 1 }), Reflect.deleteProperty(lib, 'host'), tried(() => Object.setPrototypeOf(lib, {})), tried(() => { lib.data.a = 2; return lib.data.a }), Object.isExtensible(lib)]`,
  },
  {
    name: 'imports with names of methods',
    source: `
      import * as odd from '__proto__';
      import { constructor as c, hasOwnProperty as h } from 'constructor';
      export default [Object.keys(odd), c, h, ({}).leaked]`,
    options: {
      imports: { ['__proto__']: { leaked: 1, now: 2 }, constructor: { constructor: 3, hasOwnProperty: 4 } },
    },
  },
  {
    name: 'modules with names of methods, and of others',
    source: `
      const names = ['./__proto__', './constructor', './a/../b', './b', './toString.js', './%2e%2e/x', './x?y#z', './boot'];
      export default await Promise.all(names.map((n) => import(n).then((ns) => [ns.default, ns.url], (e) => e.name)))`,
    options: {
      modules: Object.fromEntries(
        ['./__proto__', './constructor', './b', './toString', './x?y#z', './boot'].map((name) => [
          name,
          'export default 1; export const { url } = import.meta',
        ]),
      ),
    },
  },
];
