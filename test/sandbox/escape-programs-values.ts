/** Escape programs that observe or change what the sandbox's own code does while it encodes values. */
import type { EscapeProgram } from './escape-program.ts';

export const VALUES: readonly EscapeProgram[] = [
  {
    name: 'a Proxy with every trap, as report, argument and result',
    source: `
      import { walk } from './probe';
      const got = [], names = new Set();
      const spy = (target) => new Proxy(target, new Proxy({}, { get: (t, trap) => (...args) => { names.add(trap); got.push(...args); return Reflect[trap](...args) } }));
      const say = (e) => got.push(e);
      for (const target of [{ a: 1 }, [1, 2], () => 1, new Date(0), new Map(), new Error('x'), new Uint8Array(2), Object.create(null)]) {
        try { report(spy(target)) } catch (e) { say(e) }
        await host(spy(target)).catch(say); console.log(spy(target));
        await host({ deep: [spy(target)] }).catch(say);
      }
      export default [[...names], walk(...got)]`,
  },
  {
    name: 'getters that see who asks',
    source: `
      import { walk } from './probe';
      const got = [];
      const value = { get a() { got.push(this, new Error('x').stack, ...arguments); return 1 }, nested: { get b() { 'use strict'; got.push(this); return 2 } } };
      report(value); await host(value);
      export default [walk(...got), got.length, got.filter((x) => typeof x === 'string').every((s) => !/\\/[a-z]/.test(s))]`,
  },
  {
    name: 'getters that change the graph under way',
    source: `
      const o = { get a() { delete o.b; o.c = { late: 1 }; o.list.push('more'); return 1 }, b: { gone: 1 }, list: [1] };
      const list = [1, 2, 3]; Object.defineProperty(list, 1, { enumerable: true, configurable: true, get() { list.length = 0; return 'cut' } });
      const grows = [0]; Object.defineProperty(grows, 0, { enumerable: true, get() { for (let i = 1; i < 1000; i++) grows[i] = grows; return 'grown' } });
      const m = new Map([['k', { get x() { m.clear(); m.set('late', m); return 1 } }]]);
      const s = new Set([{ get x() { for (let i = 0; i < 100; i++) s.add({ s }); return 1 } }]);
      const told = [];
      for (const value of [o, list, grows, m, s]) try { report(value); told.push('sent') } catch (e) { told.push(e.name) }
      export default told`,
  },
  {
    name: 'buffers that are taken away while they are read',
    source: `
      const buffer = new ArrayBuffer(64, { maxByteLength: 128 });
      const views = [new Uint8Array(buffer), new DataView(buffer, 8), new Float64Array(buffer, 0, 2), new Uint8Array(buffer, 32)];
      const told = [];
      const attempt = (f) => { try { f(); told.push('sent') } catch (e) { told.push(e.name) } };
      attempt(() => report([{ get a() { buffer.resize(4); return 1 } }, ...views]));
      attempt(() => report([{ get a() { buffer.resize(128); return 1 } }, ...views]));
      attempt(() => report([{ get a() { buffer.transfer(); return 1 } }, ...views]));
      attempt(() => report(new Uint8Array(new ArrayBuffer(8).transfer(2))));
      export default told`,
  },
  {
    name: 'typed arrays that say they are longer',
    source: `
      const t = new Uint8Array([1, 2, 3]);
      for (const k of ['length', 'byteLength', 'byteOffset', 'buffer']) Object.defineProperty(t, k, { get: () => k === 'buffer' ? new ArrayBuffer(1e6) : 1e6 });
      class Sub extends Uint8Array { static get [Symbol.species]() { return host } get length() { return 1e6 } }
      const told = [];
      for (const value of [t, new Sub(3), Object.setPrototypeOf(new Uint8Array(3), Float64Array.prototype), Object.create(new Uint8Array(8))]) try { report(value); told.push('sent') } catch (e) { told.push(e.name) }
      export default told`,
  },
  {
    name: 'lengths that are no lengths',
    source: `
      const told = [];
      for (const length of [-1, NaN, 0.5, 2 ** 53, Infinity, '3', { valueOf() { report('LEAK valueOf'); return 3 } }, 3n, null, -0]) {
        const value = new Proxy([1, 2], { get: (t, k) => k === 'length' ? length : t[k] });
        try { report(value); told.push('sent') } catch (e) { told.push(e.name) }
      }
      export default told`,
  },
  {
    name: 'tags, constructors and toJSON that lie',
    source: `
      const lie = (value, tag, C) => { try { Object.defineProperty(value, Symbol.toStringTag, { value: tag }); Object.defineProperty(value, 'constructor', { value: C }); } catch {} return value };
      const told = [];
      for (const value of [lie({}, 'Map', Map), lie([], 'Uint8Array', Uint8Array), lie(new Map(), 'Object', Object), lie(new Date(0), 'Error', Error), lie(new WeakMap(), 'Object', Object), lie(() => 1, 'Date', Date), { toJSON() { report('LEAK toJSON') } }, Object.create(Map.prototype), Object.create(Date.prototype), Object.setPrototypeOf({}, Buffer_())])
        try { report(value); told.push('sent') } catch (e) { told.push(e.name) }
      function Buffer_() { return Object.create(Uint8Array.prototype, { constructor: { value: class Buffer {} } }) }
      export default told`,
  },
  {
    name: 'regular expressions, dates and errors with their parts replaced',
    source: `
      const r = /a/g; for (const k of ['source', 'flags', 'global', 'lastIndex', 'exec', 'toString']) try { Object.defineProperty(r, k, { get() { report('LEAK ' + k); return '(' } }) } catch {}
      const d = new Date(0); for (const k of ['getTime', 'valueOf', 'toISOString', Symbol.toPrimitive]) Object.defineProperty(d, k, { value: () => report('LEAK date') });
      const e = new Error('m'); Object.defineProperty(e, 'message', { value: { toString: () => report('LEAK message') } }); Object.defineProperty(e, 'name', { get: () => ({ toString: () => report('LEAK name') }) });
      const m = new Map([[1, 2]]); m.forEach = m.entries = m.get = () => report('LEAK map'); Object.defineProperty(m, 'size', { get: () => report('LEAK size') });
      report([r, d, m]); await host([r, d, m, e]);
      export default 'sent'`,
  },
  {
    name: 'a chain of ten thousand proxies',
    source: `
      let p = { end: 1 }; for (let i = 0; i < 1e4; i++) p = new Proxy(p, {});
      let q = { end: 1 }; for (let i = 0; i < 1e5; i++) q = Object.create(q);
      let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind();
      const told = [];
      for (const value of [p, q, f, [p], { q }]) { try { report(value); told.push('sent') } catch (e) { told.push(e.name) } try { console.log(value) } catch (e) { told.push('log ' + e.name) } }
      export default told`,
  },
  {
    name: 'calls to the host from within a getter',
    source: `
      const calls = [];
      const value = { get a() { calls.push(host({ get b() { calls.push(host('inner')); report('in between'); return 1 } })); return 2 } };
      calls.push(host(value));
      export default await Promise.all(calls)`,
  },
  {
    name: 'getters that throw what the host made',
    source: `
      const theirs = await fail('theirs').catch((e) => e);
      const say = (e) => [e === theirs, e.name];
      const told = [await host({ get a() { throw theirs } }).catch(say), await host({ get a() { throw host } }).catch((e) => e === host)];
      export default { told, get a() { throw theirs } }`,
    status: 'error',
  },
  {
    name: 'keys of every odd kind',
    source: `
      const o = JSON.parse('{"__proto__":{"leaked":1},"constructor":{"prototype":{"leaked":2}},"then":3,"toString":4,"":5,"length":6,"0":7,"-0":8,"1e3":9,"kinds":10,"V":11}');
      const a = Object.assign([1], { __proto__: Array.prototype, length: 1, '01': 'x', 4294967295: 'y', '-1': 'z' });
      Object.defineProperty(a, '__proto__', { value: { leaked: 3 }, enumerable: true });
      report(o); report(a); console.log(o, a);
      export default [await host(o), await host(a), await call((x) => [Object.keys(x), ({}).leaked], o), ({}).leaked]`,
  },
  {
    name: 'texts that look like the wire',
    source: `
      const texts = ['["u"]', '[1,"V"]', '"', '\\\\', '\\u2028', '\\0', '[{"a":[1]},"VO"]', '__proto__', '\\ud800', ']"V'];
      const o = Object.fromEntries(texts.map((t) => [t, t]));
      export default [(await host(texts)).every((t, i) => t === texts[i]), Object.keys(await host(o)).length, await host([['u'], ['n', 'NaN'], ['b', 'ff'], [0], [1]]), (await host(new Map([[o, texts]]))).size]`,
  },
];
