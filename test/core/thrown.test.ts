/** Anything thrown is converted to text: the conversion never throws, and the text is bounded. */
import { describe, expect, it } from '@jest/globals';
import { isRuntimeError } from '../../src/core/value/error.ts';
import { errorMessage, errorStack, toReadable } from '../../src/core/value/thrown.ts';

const fail = () => {
  throw new Error('a trap');
};
const trapped = (target: object = {}) =>
  new Proxy(target, Object.fromEntries(Object.getOwnPropertyNames(Reflect).map((trap) => [trap, fail])));
const withGetter = (field: string) => Object.defineProperty(new Error('x'), field, { get: fail });

const HOSTILE: readonly [string, () => unknown][] = [
  ['null', () => null],
  ['undefined', () => undefined],
  ['a symbol', () => Symbol('s')],
  ['a function', () => fail],
  ['a bigint', () => 1n],
  ['an object without a prototype', () => Object.create(null)],
  ['a proxy whose every trap throws', () => trapped()],
  ['a proxy of an error', () => trapped(new Error('x'))],
  ['a revoked proxy', () => revoked()],
  ['an error whose message throws', () => withGetter('message')],
  ['an error whose stack throws', () => withGetter('stack')],
  ['an error whose cause throws', () => withGetter('cause')],
  ['an error whose name throws', () => withGetter('name')],
  [
    'an object whose toString throws',
    () =>
      new (class {
        toString = fail;
      })(),
  ],
  ['an object whose toJSON throws', () => ({ toJSON: fail })],
  ['a frozen object', () => Object.freeze({ code: 17 })],
  ['a ring', () => ring()],
  ['a ring of causes', () => ringOfCauses()],
  ['a million nested objects', () => nested(1_000_000)],
  ['a list of a million', () => Array.from({ length: 1_000_000 }, (_, index) => index)],
  ['a text of 10 MB', () => 'x'.repeat(10_000_000)],
  ['an error whose message has 10 MB', () => new Error('x'.repeat(10_000_000))],
  ['an object with a text of 10 MB', () => ({ text: 'x'.repeat(10_000_000) })],
];

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function ring(): unknown {
  const value: Record<string, unknown> = { code: 1 };
  value.ring = value;
  return value;
}

function ringOfCauses(): unknown {
  const error = new Error('round');
  return Object.assign(error, { cause: new Error('and', { cause: error }) });
}

function nested(depth: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < depth; level++) value = { value };
  return value;
}

describe('a thrown value', () => {
  it.each(HOSTILE)('%s becomes a short text, without throwing', (_what, make) => {
    const thrown = make();
    expect(errorMessage(thrown).length).toBeGreaterThan(0);
    expect(errorMessage(thrown).length).toBeLessThan(10_000);
    const readable = toReadable(thrown) as { message?: unknown } | null | undefined;
    expect([typeof readable?.message, readable instanceof Error, isRuntimeError(thrown)]).toHaveLength(3);
    const stack = errorStack(thrown);
    expect(['string', 'undefined']).toContain(typeof stack);
    expect(stack?.length ?? 0).toBeLessThan(20_000);
  });

  it.each<[unknown, string]>([
    [new Error('the message'), 'the message'],
    [new RangeError(''), 'RangeError'],
    ['a text', 'a text'],
    [{ message: 'of an object' }, 'of an object'],
    [{ code: 17 }, '{"code":17}'],
    [{ code: 17, at: { line: 3 } }, '{"code":17,"at":{"line":3}}'],
    [Object.assign(Object.create(null), { code: 17 }), '{"code":17}'],
    [[1, 'two', null], '[1,"two",null]'],
    [{ amount: 5n, of: Symbol('s') }, '{"amount":"5n","of":"(a symbol)"}'],
    [{ text: 'x'.repeat(5000) }, '{"text":"(a string of 5000 characters)"}'],
    [{ a: { b: { c: { d: { e: 1 } } } } }, '{"a":{"b":{"c":{"d":"(more)"}}}}'],
    [Symbol('odd'), 'Symbol(odd)'],
    [null, 'No reason was given (null was thrown).'],
    [undefined, 'No reason was given (undefined was thrown).'],
    ['', 'No reason was given (an empty text was thrown).'],
    [new Error(''), 'Error'],
    [Object.assign(new Error(''), { code: 'ECONNRESET' }), 'Error (ECONNRESET)'],
    [new Error('', { cause: new Error('deeper') }), 'Error: deeper'],
    [new AggregateError([new Error('refused at ::1')], ''), 'AggregateError: refused at ::1'],
    [
      new (class Odd {
        code = 17;
      })(),
      'Odd {"code":17}',
    ],
    [new Map(), 'Map {}'],
    [17n, '17'],
  ])('%p becomes %s', (thrown, told) => {
    expect(errorMessage(thrown)).toBe(told);
  });

  it('with unsafe keys is printed like any other', () => {
    expect(errorMessage(JSON.parse('{"__proto__":{"polluted":true},"code":1}'))).toBe(
      '{"__proto__":{"polluted":true},"code":1}',
    );
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('the stack of an error', () => {
  it('is followed by those of its causes, up to a limit', () => {
    const error = new Error('outer', { cause: new TypeError('inner', { cause: { code: 17 } }) });
    const stack = errorStack(error) ?? '';
    expect(stack).toMatch(
      /^Error: outer\n[\s\S]*\nCaused by: TypeError: inner\n[\s\S]*\nCaused by: {"code":17}$/,
    );
    expect((errorStack(ringOfCauses()) ?? '').match(/Caused by/g)).toHaveLength(5);
  });
});
