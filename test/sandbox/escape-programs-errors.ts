/** Escape programs that inspect errors, stacks and the effects of failures of trusted code. */
import type { EscapeProgram } from './escape-program.ts';

export const ERRORS: readonly EscapeProgram[] = [
  {
    name: 'every method of every call site',
    source: `
      import { tried, walk } from './probe';
      const told = new Set(), got = [];
      Error.stackTraceLimit = 200;
      Error.prepareStackTrace = (error, sites) => {
        for (const site of sites) {
          got.push(site);
          for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(site)))
            if (name !== 'constructor') { const value = tried(() => { const v = site[name](); got.push(v); return v }); if (/\\//.test(value)) told.add(value); }
        }
        return sites;
      };
      const look = (e) => got.push(e, e.stack);
      await fail('x').catch(look); await host(Symbol()).catch(look); await import('nope').catch(look);
      try { report(new WeakMap()) } catch (e) { look(e) }
      try { null.x } catch (e) { look(e) }
      await call(() => { look(new Error('inside a callback')) });
      delete Error.prepareStackTrace;
      export default [[...told], walk(...got)]`,
  },
  {
    name: 'captureStackTrace on everything at hand',
    source: `
      import { tried, walk } from './probe';
      const got = [];
      for (const target of [host, report, {}, [], import.meta, globalThis])
        tried(() => { Error.captureStackTrace(target); got.push(target.stack) });
      const d = Object.getOwnPropertyDescriptor(new Error('x'), 'stack');
      delete globalThis.stack;
      export default [got, walk(d, d.get, d.set), tried(() => d.get?.call(host)), tried(() => d.set?.call(host, 'x'))]`,
  },
  {
    name: 'a stack overflow at every depth of trusted code',
    source: `
      import { walk } from './probe';
      const caught = new Set();
      const attacks = [() => report(1), () => console.log({ a: 1 }), () => host({ a: [1] }).catch((e) => caught.add(e)), () => import('./none').catch((e) => caught.add(e)), () => report(() => 1)];
      for (const attack of attacks) {
        const dive = (n) => { try { dive(n + 1) } catch (e) { caught.add(e); if (spent++ < 30) try { attack() } catch (e) { caught.add(e) } } };
        let spent = 0;
        dive(0);
      }
      await null;
      export default [walk(...caught), [...caught].every((e) => e instanceof Error)]`,
  },
  {
    name: 'a stack overflow while values are encoded',
    source: `
      import { walk } from './probe';
      const caught = [];
      const endless = () => ({ get a() { return endless() } });
      let spent = 0;
      const dive = () => { try { dive() } catch (e) { if (spent++ < 50) try { report({ get x() { return [1, new Map(), {}] } }) } catch (e) { caught.push(e) } throw e } };
      for (const attack of [dive, () => report(endless()), () => report((() => { const o = {}; o.o = new Proxy(o, {}); return o })()), () => report({ get x() { dive() } })])
        try { attack() } catch (e) { caught.push(e) }
      export default walk(...caught.slice(0, 50))`,
  },
  {
    name: 'the error of a host function',
    source: `
      import { walk } from './probe';
      const e = await fail('no').catch((e) => e);
      export default [walk(e, e.constructor), Object.getOwnPropertyNames(e), e.message, e.name, e.cause, e.secret, e.stack, e instanceof RangeError, Error.prototype.toString.call(e)]`,
  },
  {
    name: 'the class of SerializationError',
    source: `
      import { make, tried, walk } from './probe';
      const e = await host(Symbol('x')).catch((e) => e);
      const C = e.constructor;
      export default [walk(e, C), make(C), tried(() => { C.prototype.toString = 1 }), tried(() => Object.setPrototypeOf(C, Function)), tried(() => new C(host, report, {}).message),
        tried(() => Object.defineProperty(C.prototype, 'message', { get() { return 'mine' } })), (await host(Symbol('y')).catch((e) => e)).message]`,
  },
  {
    name: 'a stackTraceLimit that is an accessor or an object',
    source: `
      const seen = [];
      Object.defineProperty(Error, 'stackTraceLimit', { configurable: true, get() { seen.push(this === Error); return { valueOf() { seen.push('valueOf'); return 1e9 } } }, set() {} });
      await fail('a').catch(() => {}); await host(Symbol()).catch(() => {}); try { report(new WeakSet()) } catch {}
      export default seen.every((x) => x === true || x === 'valueOf')`,
  },
  {
    name: 'an Error that was replaced',
    source: `
      import { walk } from './probe';
      const got = [];
      const Mine = class extends Error { constructor(...args) { super(...args); got.push(this, args, new.target) } };
      for (const name of ['Error', 'TypeError', 'RangeError', 'SyntaxError', 'EvalError']) globalThis[name] = Mine;
      Error.prototype.constructor = Mine;
      await fail('a').catch((e) => got.push(e)); await host(Symbol()).catch((e) => got.push(e)); await import('x').catch((e) => got.push(e));
      export default walk(...got)`,
  },
  {
    name: 'a chain of causes and aggregates, thrown',
    source: `
      const cause = new AggregateError([new Error('one', { cause: host }), host], 'two', { cause: report });
      throw Object.assign(new SuppressedError(cause, cause, 'three'), { cause, host, stack: undefined })`,
    status: 'error',
  },
  {
    name: 'an error whose parts are getters with deeds',
    source: `
      export default () => { throw { get name() { report('name'); return 'N' }, get message() { void host('message'); return 'M' }, get stack() { Object.prototype.stack = 'S'; return 'at /etc/passwd' } } }`,
    status: 'error',
  },
  {
    name: 'a stack that was written by hand',
    source: `
      const e = new Error('x');
      e.stack = 'Error: x\\n    at host (/etc/secret.js:1:2)\\n    at sandbox:<runCode>:99:99\\n    at Object.<anonymous> (C:\\\\host\\\\x.js:1:1)\\n    at (<isolated-vm boundary>)';
      throw e`,
    status: 'error',
  },
  {
    name: 'a message that looks like a place of the engine',
    source: `throw new SyntaxError('x [sandbox:<runCode>:1:1] [file:///x:0:0]'.replace('file:///x', 'sandbox:internal'))`,
    status: 'error',
  },
  {
    name: 'promises that reject, unheard, with odd values',
    source: `
      const revoked = Proxy.revocable({}, {}); revoked.revoke();
      for (const odd of [null, undefined, Symbol('x'), host, revoked.proxy, new Proxy({}, { get() { throw 1 } }), { then: 1 }, 1n]) {
        Promise.reject(odd); (async () => { throw odd })();
      }
      await host(1); await null;
      export default 'survived'`,
  },
  {
    name: 'rejections that are heard too late',
    source: `
      const late = [fail('a'), host(Symbol()), Promise.reject(1)];
      for (let i = 0; i < 5; i++) await host(i);
      export default (await Promise.allSettled(late)).map((x) => x.status)`,
  },
  {
    name: 'an overflow in the callback of a host',
    source: `
      const dive = () => dive();
      export default await call(() => dive()).catch((e) => [e.name, e.message, e.stack])`,
  },
];
