/** runtime §13.3: what crosses between host and program, in both directions. */
import { describe, expect, it } from '@jest/globals';
import { failureOf, resultOf, runCode, runOnce } from '../support/sandbox.ts';

const ECHO = 'export default async (value, host) => host ? [value, await host(value)] : value';

/** Sends a value through an argument, a bridged function's parameter and answer, and the result. */
async function travel(value: unknown): Promise<{ seen: unknown; answered: unknown; returned: unknown }> {
  let seen: unknown;
  const host = (given: unknown) => {
    seen = given;
    return given;
  };
  const options = { execute: { args: [value, host] }, language: 'javascript' } as const;
  const [returned, answered] = (await resultOf(ECHO, options)) as [unknown, unknown];
  return { seen, answered, returned };
}

describe('runtime §13.3 Value Marshaling', () => {
  it.each([
    ['text', 'a\u0000\u{1f600}\ud800'],
    ['a number', 0.1],
    ['minus zero', -0],
    ['NaN', Number.NaN],
    ['infinity', -Infinity],
    ['true', true],
    ['null', null],
    ['undefined', undefined],
    ['a bigint', -(2n ** 70n)],
  ])('[runtime 13.3.1] %s crosses by value', async (_, value) => {
    const { seen, answered, returned } = await travel(value);
    for (const arrived of [seen, answered, returned]) expect(Object.is(arrived, value)).toBe(true);
  });

  it('[runtime 13.3.1] primitives are unchanged inside, too', async () => {
    const source = 'export default (...all) => all.map((each) => Object.is(each, -0) ? "-0" : typeof each)';
    const args = ['', 1, -0, true, null, undefined, 1n];
    expect(await resultOf(source, { execute: { args }, language: 'javascript' })).toEqual([
      'string',
      'number',
      '-0',
      'boolean',
      'object',
      'undefined',
      'bigint',
    ]);
  });

  it.each<[string, () => object]>([
    ['a plain object', () => ({ a: 1, '': { b: undefined }, ['__proto__']: 'own' })],
    ['an array', () => [1, [2, [3]], undefined]],
    ['a sparse array', () => Object.assign(Array(3), { 1: 'one' })],
    ['a Map', () => new Map<unknown, unknown>([['a', new Map([[{ key: 1 }, 1n]])]])],
    ['a Set', () => new Set<unknown>([1, 'a', new Set([2])])],
    ['a Date', () => new Date(1_234_567_890_123)],
    ['a Uint8Array', () => new Uint8Array([1, 2, 255])],
    ['a part of a buffer', () => new Uint8Array(new Uint8Array([0, 1, 2, 3]).buffer, 1, 2)],
    ['a Float64Array', () => new Float64Array([0.5, Number.NaN])],
    ['a BigInt64Array', () => new BigInt64Array([-1n])],
    ['an ArrayBuffer', () => new Uint8Array([7, 8]).buffer],
  ])('[runtime 13.3.2] %s crosses as a copy', async (_, make) => {
    const value = make();
    const { seen, answered, returned } = await travel(value);
    for (const arrived of [seen, answered, returned]) {
      expect(arrived).toStrictEqual(make());
      expect(Object.prototype.toString.call(arrived)).toBe(Object.prototype.toString.call(value));
      expect(arrived).not.toBe(value);
    }
    expect(value).toEqual(make());
  });

  it('[runtime 13.3.2] nothing is shared: changes on one side are invisible to the other', async () => {
    const given = {
      list: [1],
      map: new Map([['a', 1]]),
      set: new Set([1]),
      date: new Date(0),
      bytes: new Uint8Array(1),
    };
    const kept: (typeof given)[] = [];
    const source = `
      export default async (given, keep, changeHost) => {
        await keep(given);
        given.list.push(2); given.map.set('b', 2); given.set.add(2); given.date.setTime(1); given.bytes[0] = 1;
        await changeHost();
        return [given.list, given.map.size, given.set.size, given.date.getTime(), given.bytes[0]];
      };`;
    const changeHost = () => {
      for (const value of [given, ...kept]) {
        value.list.push(3, 4);
        value.map.clear();
        value.bytes[0] = 9;
      }
    };
    const execute = { args: [given, (value: typeof given) => void kept.push(value), changeHost] };
    expect(await resultOf(source, { execute, language: 'javascript' })).toEqual([[1, 2], 2, 2, 1, 1]);
    expect(given).toMatchObject({ list: [1, 3, 4], set: new Set([1]), date: new Date(0) });
    expect(kept).toMatchObject([{ list: [1, 3, 4], set: new Set([1]), date: new Date(0) }]);
  });

  it('[runtime 13.3.2] references within one value are preserved: cycles and shared objects', async () => {
    const twice = { a: 1 };
    const value: Record<string, unknown> = { one: twice, two: twice };
    value.self = value;
    const { seen, answered, returned } = await travel(value);
    for (const arrived of [seen, answered, returned] as Record<string, unknown>[]) {
      expect(arrived.self).toBe(arrived);
      expect(arrived.one).toBe(arrived.two);
      expect(arrived.one).toEqual({ a: 1 });
    }
  });

  it('[runtime 13.3.3] a function of the host is called with copies, and its promise is awaited', async () => {
    const asked: unknown[] = [];
    const add = async (one: { value: number }, two: Map<string, number>) => {
      asked.push(one, two);
      await new Promise((resolve) => setImmediate(resolve));
      return { sum: one.value + (two.get('value') as number) };
    };
    const source = `
      const call = add({ value: 1 }, new Map([['value', 2]]));
      export default [call instanceof Promise, (await call).sum, add.name];`;
    expect(await resultOf(source, { globals: { add } })).toEqual([true, 3, 'add']);
    expect(asked).toEqual([{ value: 1 }, new Map([['value', 2]])]);
  });

  it('[runtime 13.3.3] an error thrown by a host function is thrown inside with name and message', async () => {
    const fail = (how: string) => {
      if (how === 'sync') throw new RangeError('out of range');
      return Promise.reject(Object.assign(new Error('refused'), { name: 'Refusal', secret: 1 }));
    };
    const source = `
      const tell = async (how) => { try { await fail(how) } catch (e) { return [e.name, e.message, e instanceof Error, e.secret] } };
      export default [await tell('sync'), await tell('async')];`;
    expect(await resultOf(source, { globals: { fail }, language: 'javascript' })).toEqual([
      ['RangeError', 'out of range', true, undefined],
      ['Refusal', 'refused', true, undefined],
    ]);
    expect(await failureOf('export default () => fail("async")', { globals: { fail } })).toMatchObject({
      status: 'error',
      name: 'Refusal',
      message: 'refused',
    });
  });

  it('[runtime 13.3.3] a function of the program can be called by the host, while it runs and from its result', async () => {
    const each = async (list: number[], visit: (value: number) => Promise<number>) =>
      Promise.all(list.map((value) => visit(value)));
    const source = `
      let total = 0;
      const seen = await each([1, 2, 3], async (value: number) => { total += value; return value * 2; });
      export default { seen, add: (value: number) => { total += value; return { total }; }, fail() { throw new TypeError('no') } };`;
    const { result } = await runCode(source, { globals: { each } });
    const { seen, add, fail } = result as {
      seen: number[];
      add(n: number): Promise<unknown>;
      fail(): Promise<unknown>;
    };
    expect(seen).toEqual([2, 4, 6]);
    expect(await add(4)).toEqual({ total: 10 });
    expect(await add(1)).toEqual({ total: 11 });
    await expect(fail()).rejects.toMatchObject({ name: 'TypeError', message: 'no' });
  });

  it('[runtime 13.3.3] a function that returns to its side is the original', async () => {
    const mine = () => 'mine';
    const { result } = await runCode('export default (f) => { const own = () => f; return { f, own }; }', {
      execute: { args: [mine] },
      language: 'javascript',
    });
    const { f, own } = result as { f: unknown; own(): Promise<unknown> };
    expect(f).toBe(mine);
    expect(await own()).toBe(mine);
    const echo = (value: unknown) => value;
    const source =
      'const own = () => 1; export default [(await echo([own]))[0] === own, (await echo(echo)) === echo];';
    expect(await resultOf(source, { globals: { echo } })).toEqual([true, true]);
  });

  it.each([
    ['an instance of a class', 'new (class Money {})', 'an instance of Money'],
    ['a subclass of a collection', 'new (class Bag extends Map {})', 'an instance of Bag'],
    ['a WeakMap', 'new WeakMap()', 'an instance of WeakMap'],
    ['a WeakRef', 'new WeakRef({})', 'an instance of WeakRef'],
    ['a symbol', "Symbol('x')", 'the symbol Symbol(x)'],
    ['a promise within', 'Promise.resolve(1)', 'a promise'],
  ])('[runtime 13.3.4] refuses %s of the program, and names its place', async (_, expression, what) => {
    const failure = await failureOf(`export default { list: [0, ${expression}] }`);
    expect(failure).toMatchObject({ status: 'error', name: 'SerializationError' });
    expect(failure.message.toLowerCase()).toContain(what.toLowerCase());
    expect(failure.message).toContain('.list[1]');
    const caught = `
      export default await host({ deep: [${expression}] }).catch(({ name, message }) => name + ': ' + message)`;
    const told = await resultOf(caught, { globals: { host: () => 'taken' } });
    expect(told).toMatch(/^SerializationError: arguments\[0\]\.deep\[0\]/);
  });

  it('[runtime 13.3.4] refuses unsupported host values, before the run or at the call', async () => {
    class Account {
      owner = 'me';
    }
    const given = { globals: { state: { accounts: [new Account()] } } };
    const { error, status, logs } = await runOnce('console.log("ran"); export default 1', given);
    expect({ status, name: error?.name, logs }).toEqual({
      status: 'link_error',
      name: 'InvalidCodeExecutionOptions',
      logs: [],
    });
    expect(error?.message).toMatch(/options\.globals\.state\.accounts\[0\].*Account/);
    const source = 'export default await host().catch(({ name, message }) => name + ": " + message)';
    const told = await resultOf(source, { globals: { host: () => ({ owner: new Account() }) } });
    expect(told).toMatch(/^SerializationError: .*\.owner.*Account/);
  });

  it('[runtime 13.3.5] a bridged function exposes neither its this nor its closure', async () => {
    const secret = 'of the host';
    const seen: unknown[] = [];
    const service = {
      secret,
      call(this: unknown, ...args: unknown[]) {
        seen.push(this, args, secret);
        return args.length;
      },
    };
    Object.assign(service.call, { token: secret });
    const source = `
      const own = { call: service.call, mark: 1 };
      const asked = [await service.call(1), await own.call(), await service.call.call({ mark: 2 }, 1, 2)];
      const names = Reflect.ownKeys(service.call).map(String).sort();
      const reach = ['caller', 'arguments', 'callee'].map((key) => { try { return typeof service.call[key] } catch { return 'throws' } });
      let text = ''; for (let at = service.call; at; at = Object.getPrototypeOf(at)) text += Reflect.ownKeys(at).map(String).join();
      export default { asked, names, reach, text: text.includes('token'), body: String(service.call).includes('secret') };`;
    expect(await resultOf(source, { globals: { service }, language: 'javascript' })).toEqual({
      asked: [1, 0, 2],
      names: ['length', 'name'],
      reach: ['throws', 'throws', 'undefined'],
      text: false,
      body: false,
    });
    expect(seen).toEqual([undefined, [1], secret, undefined, [], secret, undefined, [1, 2], secret]);
  });
});
