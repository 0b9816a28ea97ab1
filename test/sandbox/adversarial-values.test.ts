/**
 * Groups 6, 10 and 16 of the adversarial tests: values that cross, in both directions, and parts of them that must not.
 */
import { afterAll, describe, expect, it } from '@jest/globals';
import type { CodeExecutionOptions, CodeExecutionResult } from '../../src/core/author/code-execution.ts';
import { createSandbox } from '../../src/sandbox/index.ts';

const sandbox = createSandbox({ size: 2 });
const scope = sandbox.scope();
afterAll(() => sandbox.close());

const run = (source: string, options?: CodeExecutionOptions): PromiseLike<CodeExecutionResult> =>
  scope.runCode(source, { language: 'javascript', ...options });
const HOST_PATH = /node_modules|file:|\/work\/|\.test\.ts|node:internal/;

describe('a host function that throws', () => {
  it('adversarial 6: exposes its name and message, and neither its stack nor anything else', async () => {
    class Secret extends Error {
      override readonly name = 'SecretError';
      readonly token = 'hunter2';
    }
    const source = `
      try { await host() } catch (e) {
        const text = [e.stack, String(e), e.cause, JSON.stringify(e), Object.getOwnPropertyNames(e).join()].join('|');
        export_ = { name: e.name, message: e.message, own: Object.getOwnPropertyNames(e).sort(), text, is: e instanceof Error };
      }
      var export_;
      export { export_ as default };`;
    const cause = new Error('the cause');
    const host = () => {
      throw Object.assign(new Secret('said', { cause }), { path: '/etc/passwd' });
    };
    const { result } = await run(source, { globals: { host } });
    expect(result).toMatchObject({ name: 'SecretError', message: 'said', is: true });
    const { own, text } = result as { own: string[]; text: string };
    expect(own).toEqual(['message', 'name', 'stack']);
    expect(text).not.toMatch(HOST_PATH);
    expect(text).not.toMatch(/hunter2|the cause|passwd/);
  });

  it('adversarial 6: is a function with a name and a length for the code, and nothing more', async () => {
    const source = `
      const tried = (f) => { try { return String(f()) } catch (e) { return e.name } };
      export default {
        own: Reflect.ownKeys(host), frozen: tried(() => (host.extra = 1, host.extra)), prototype: typeof host.prototype,
        made: tried(() => new host.constructor('return 1')), caller: tried(() => host.caller), args: tried(() => host.arguments),
        anew: tried(() => new host()), text: host.toString(), proto: Object.getPrototypeOf(host) === Function.prototype,
        self: await host.call({ secret: 1 }), bound: await host.bind(7)(),
      };`;
    function host(this: unknown) {
      return this === undefined ? 'no this' : 'LEAK';
    }
    const { result } = await run(source, { globals: { host } });
    expect(result).toMatchObject({
      own: ['length', 'name'],
      prototype: 'undefined',
      made: 'EvalError',
      caller: 'TypeError',
      args: 'TypeError',
      anew: 'TypeError',
      proto: true,
      self: 'no this',
      bound: 'no this',
    });
    expect((result as { text: string }).text).not.toMatch(/no this|LEAK/);
  });
});

describe('thenables', () => {
  it('adversarial 10: a result that is one is awaited until it is not', async () => {
    const source =
      'const t = (n) => ({ then(f) { f(n === 0 ? "end" : t(n - 1)) } }); export default () => t(5)';
    expect(await run(source)).toMatchObject({ status: 'success', result: 'end' });
  });

  it('adversarial 10: an argument, a report or an answer that is one is refused', async () => {
    const seen: unknown[] = [];
    const source = `
      const thenable = { then(resolve) { resolve('LEAK'); resolve.constructor('return 1') } };
      const tell = (e) => e.name + ': ' + e.message;
      const told = [await host(thenable).catch(tell), await host({ deep: [thenable] }).catch(tell)];
      try { report(thenable) } catch (e) { told.push(tell(e)) }
      told.push(await host(() => ({ a: thenable })));
      export default told;`;
    const host = async (value: unknown) => {
      seen.push(value);
      if (typeof value !== 'function') return await value;
      return await (value as () => Promise<unknown>)().catch(
        (error: Error) => `${error.name}: ${error.message}`,
      );
    };
    const { result } = await run(source, { globals: { host }, report: (value) => seen.push(value) });
    expect(result).toHaveLength(4);
    for (const told of result as string[]) expect(told).toMatch(/^SerializationError: .*then/);
    expect(seen.filter((value) => typeof value !== 'function')).toEqual([]);
  });

  it('adversarial 10: an export named then breaks neither the run nor import()', async () => {
    const source = 'export function then(f) { f("called") } export default 5';
    expect((await run(source)).result).toBe(5);
    const asked = 'export default await import("./m")';
    expect((await run(asked, { modules: { './m': source } })).result).toBe('called');
  });
});

describe('values that are transferred', () => {
  const VALUES: Readonly<Record<string, string>> = {
    undefined: 'undefined',
    'NaN, the infinities and -0': '[NaN, Infinity, -Infinity, -0]',
    bigints: '[0n, -1n, 2n ** 200n]',
    'lone surrogates': '["\\ud800", "\\udc00x"]',
    dates: '[new Date(0), new Date(8.64e15), new Date(-1)]',
    maps: 'new Map([[{ a: 1 }, 1], ["k", new Map()]])',
    sets: 'new Set([1, "a", new Set([2])])',
    'typed arrays':
      '[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float16Array, Float32Array, Float64Array].map((T) => new T([1, 2, 3]))',
    'bigint arrays': '[new BigInt64Array([-1n]), new BigUint64Array([1n])]',
    'buffers and views': '[new ArrayBuffer(3), new DataView(new ArrayBuffer(8), 2, 4)]',
    'a view into a larger buffer': 'new Uint8Array(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)',
    'regular expressions': '[/a+/giu, /[\\/]/s]',
    'sparse arrays': 'Object.assign(new Array(5), { 1: "b", 4: undefined })',
    'objects without prototype': 'Object.assign(Object.create(null), { a: 1 })',
    'an own __proto__': 'JSON.parse(\'{"__proto__":{"polluted":1},"a":1}\')',
    'names of methods': '({ constructor: 1, toString: 2, hasOwnProperty: 3, valueOf: 4 })',
  };
  /** Evaluates the same text as a value of this side. */
  const here = (text: string): unknown => new Function(`return (${text})`)();

  it.each(Object.entries(VALUES))('adversarial 16: %s, in both directions and back', async (_, text) => {
    const seen: unknown[] = [];
    const host = (...values: unknown[]) => {
      seen.push(...values);
      return values[0];
    };
    const source = `
      report(${text});
      const back = await host(${text}, given);
      export default (answer) => [${text}, given, back, answer, ({}).polluted, (back ?? {}).polluted];`;
    const { status, result } = await run(source, {
      globals: { host, given: here(text) },
      execute: { args: [here(text)] },
      report: (value) => seen.push(value),
    });
    expect(status).toBe('success');
    const [made, given, back, answer, ...polluted] = result as unknown[];
    expect([made, given, back, answer, ...seen]).toEqual(Array(7).fill(here(text)));
    expect(polluted).toEqual([undefined, undefined]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('adversarial 16: cycles and shared references are the same graph on the other side', async () => {
    const source = `
      const a = { list: [] }; a.self = a; a.list.push(a, a.list); const shared = { s: 1 }; a.twice = [shared, shared];
      a.map = new Map([[a, shared]]);
      export default await host(a) && a`;
    const isSame = (a: Record<string, unknown>) => {
      const { list, self, twice, map } = a as Record<string, unknown[]> & { map: Map<unknown, unknown> };
      return (
        self === (a as unknown) &&
        list?.[0] === a &&
        list[1] === list &&
        twice?.[0] === twice?.[1] &&
        map.get(a) === twice?.[0]
      );
    };
    const { result } = await run(source, { globals: { host: isSame } });
    expect(isSame(result as Record<string, unknown>)).toBe(true);
  });

  it('adversarial 16: a top-level Float16Array is transferred from every place, and ends no child', async () => {
    const source = `
      const f = new Float16Array([0.5, -2]);
      report(f); console.log(f); await host(f);
      export default f`;
    const outcome = await run(source, {
      globals: { host: (value: unknown) => value },
      report: () => undefined,
    });
    expect(outcome.status).toBe('success');
    expect([...(outcome.result as Iterable<number>)]).toEqual([0.5, -2]);
  });

  it('adversarial 16: getters are read inside, a Proxy is its visible data, an error its name and message, a date may be invalid', async () => {
    const source = `
      const error = Object.assign(new TypeError('m', { cause: new Error('c') }), { secret: 1 });
      export default [{ get a() { return 1 } }, new Proxy({ x: 1 }, { get: () => 2 }), new Proxy([1, 2], {}), error, new Date(NaN)]`;
    const { result } = await run(source);
    const [got, shown, list, error, never] = result as [unknown, unknown, unknown, Error, Date];
    expect(never.getTime()).toBeNaN();
    expect([got, shown, list]).toEqual([{ a: 1 }, { x: 2 }, [1, 2]]);
    expect([error.name, error.message, error.cause, Object.keys(error)]).toEqual([
      'TypeError',
      'm',
      undefined,
      [],
    ]);
    expect(error.stack).not.toMatch(HOST_PATH);
  });
});
