/** Keys, expressions and other data that is small to write and expensive to read: refused before the cost arises. */
import { describe, expect, it } from '@jest/globals';
import { decode } from '../../src/sandbox/codec/decode.ts';
import { encode } from '../../src/sandbox/codec/encode.ts';
import { addKey, createKeyTable, hashOf } from '../../src/sandbox/codec/key-table.ts';
import { isLong } from '../support/long-form.ts';
import { workSince } from '../support/own-work.ts';
import { LIMITS, wireOf } from './codec-sample.ts';
import { shareSandbox } from './own-sandbox.ts';

const WORD = 2n ** 64n;
const COLLIDE = 'a Map or Set with too many colliding keys';

/** Returns the x with a * x = 1 modulo 2^64. */
function inverse(a: bigint): bigint {
  let x = 1n;
  for (let i = 0; i < 7; i++) x = BigInt.asUintN(64, x * (2n - a * x));
  return x;
}

function undoShift(hash: bigint, by: bigint): bigint {
  let key = hash;
  for (let done = 0n; done < 64n; done += by) key = hash ^ (key >> by);
  return BigInt.asUintN(64, key);
}

/** Returns the 64 bits whose V8 long hash is this: every step of that hash is reversible. */
function unhash(hash: bigint): bigint {
  let key = undoShift(hash, 22n);
  key = undoShift(BigInt.asUintN(64, key * inverse(65n)), 11n);
  key = undoShift(BigInt.asUintN(64, key * inverse(21n)), 31n);
  return BigInt.asUintN(64, (key + 1n) * inverse(2n ** 18n - 1n));
}

/** Doubles that are not 32-bit integers, all with the same hash. */
function collidingDoubles(count: number): number[] {
  const bits = new BigUint64Array(1);
  const double = new Float64Array(bits.buffer);
  const found: number[] = [];
  for (let i = 1n; found.length < count; i++) {
    bits[0] = unhash((i << 30n) | 7n);
    const [value] = double;
    if (Number.isFinite(value) && value !== (value! | 0)) found.push(value!);
  }
  return found;
}

/** Integers whose hashes have the same lowest bits: a table puts them all into one chain. */
function collidingIntegers(count: number): number[] {
  const found: number[] = [];
  for (let i = 0; found.length < count; i++) if ((hashOf(i) & 2047) === 5) found.push(i);
  return found;
}

const KEYS = {
  'bigints with one lowest word': Array.from({ length: 4000 }, (_, i) => BigInt(i) * WORD + 5n),
  'negative bigints with one lowest word': Array.from({ length: 4000 }, (_, i) => -(BigInt(i) * WORD + 5n)),
  'doubles with one hash': collidingDoubles(4000),
  'integers of one chain': collidingIntegers(4000),
};

const read = (value: unknown) => decode(encode(value, undefined, LIMITS).wire, undefined, LIMITS);

describe('a reader of Maps and Sets', () => {
  it.each(Object.entries(KEYS))('refuses %s', (_title, keys) => {
    expect(() => read(new Set<unknown>(keys))).toThrow(COLLIDE);
    expect(() => read(new Map<unknown, number>(keys.map((key) => [key, 1])))).toThrow(COLLIDE);
    // Small sets of colliding keys are accepted: however many of them cross, they cost no more than an honest set.
    expect(() =>
      read([new Set<unknown>(keys.slice(0, 32)), new Set<unknown>(keys.slice(0, 32))]),
    ).not.toThrow();
  });

  it.each<[string, (i: number) => unknown]>([
    ['counted up', (i) => i],
    ['even', (i) => i * 2],
    ['powers of two apart', (i) => i * 65_536],
    ['negative', (i) => -i],
    ['fractions', (i) => i / 7],
    ['large', (i) => i * 2 ** 33],
    ['bigints', (i) => BigInt(i)],
    ['bigints of two words', (i) => 2n ** 64n + BigInt(i)],
    ['texts', (i) => `${i}`],
    ['objects', () => ({})],
    ['of all kinds', (i) => [i, `${i}`, BigInt(i), i / 3][i % 4]],
  ])('accepts 50,000 ordinary keys: %s', (_title, key) => {
    const keys = Array.from({ length: 50_000 }, (_, i) => key(i));
    expect((read(new Set(keys)) as Set<unknown>).size).toBe(new Set(keys).size);
  });

  it('computes the engine’s hashes: keys that collide by them are slow in that engine', () => {
    for (const keys of Object.values(KEYS)) {
      const honest = Array.from({ length: keys.length }, (_, i) => i);
      expect(steps(keys)).toBeGreaterThan(100 * steps(honest));
      const insert = (all: readonly unknown[]) => {
        const before = process.threadCpuUsage();
        const size = new Set(all).size;
        return { size, ms: workSince(before) };
      };
      // Colliding keys are hundreds of times as expensive. The minimum of three, since the collector may run during any
      // of them.
      const least = (all: readonly unknown[]) => Math.min(...[1, 2, 3].map(() => insert(all).ms));
      expect(least(keys)).toBeGreaterThan(5 * least(honest));
    }
  });

  it('aborts any read that takes too long for its size', () => {
    let now = 0;
    const work = { freeMs: 100, msPerElement: 0.01, spentMs: () => now++ };
    const { wire } = encode(
      Array.from({ length: 3000 }, () => []),
      undefined,
      LIMITS,
    );
    expect(() => decode(wire, undefined, { ...LIMITS, work })).not.toThrow();
    const spentMs = () => {
      now += 60;
      return now;
    };
    const slow = { ...work, spentMs };
    expect(() => decode(wire, undefined, { ...LIMITS, work: slow })).toThrow(
      /more than \d+(\.\d+)? ms, too long/,
    );
  });
});

function steps(keys: readonly unknown[]): number {
  const table = createKeyTable(keys.length);
  return keys.reduce<number>((sum, key) => sum + addKey(table, key), 0);
}

describe('regular expressions', () => {
  it('are transferred within their total cost', () => {
    const some = [/plain/gi, /[\p{L}\p{N}]+/u, /^\p{RGI_Emoji}$/v, new RegExp('x'.repeat(40_000))];
    expect(read(some)).toEqual(some);
  });

  it.each([
    ['of properties of strings', /[\p{RGI_Emoji}]/v, 40],
    ['of properties', /\p{L}/u, 40],
    ['of wide classes', /[\0-\u{10ffff}]/iv, 300],
    ['of plain text', new RegExp('x'.repeat(1000)), 70],
  ])('above the total cost are refused by the writer and by the reader: %s', (_title, each, count) => {
    const all = Array.from({ length: count }, () => new RegExp(each));
    expect(() => encode(all, undefined, LIMITS)).toThrow('over the limit of regular expressions');
    const table = all.map(({ source, flags }) => [source, flags]);
    const wire = wireOf(
      `VA${'R'.repeat(count)}`,
      [1],
      all.map((_, at) => [at + 2]),
      ...table,
    );
    expect(() => decode(wire, undefined, LIMITS)).toThrow('regular expressions that are too expensive');
  });
});

describe('a program that sends data expensive to read', () => {
  /** The program's own cost grows with the square of this number. */
  const COUNT = isLong ? 30_000 : 4000;
  const SETS = [
    ['bigints', `Array.from({ length: ${COUNT} }, (_, i) => (BigInt(i) << 64n) | 5n)`],
    ['doubles', JSON.stringify(KEYS['doubles with one hash'])],
  ] as const;

  const { runCode } = shareSandbox(1);

  it.each(SETS)('in its result ends with an error, and is not read further: %s', async (_title, keys) => {
    expect(await runCode(`export default new Set(${keys})`)).toMatchObject({
      status: 'error',
      error: { name: 'SerializationError', message: expect.stringContaining(COLLIDE) },
    });
  });

  it('in an argument is refused there, and its function is not called', async () => {
    let called = 0;
    const host = () => {
      called += 1;
    };
    const globals = { host };
    const source = `const keys = ${SETS[0][1]}; export default await host(new Set(keys)).catch(({ message }) => message)`;
    expect((await runCode(source, { globals })).result).toContain(COLLIDE);
    expect(called).toBe(0);
  });
});
