/** The limits of a transfer, kept by the writer; and how the reader handles a text that no writer wrote. */
import { describe, expect, it } from '@jest/globals';
import { decode } from '../../src/sandbox/codec/decode.ts';
import { type EncodeLimits, encode, encodeLenient } from '../../src/sandbox/codec/encode.ts';
import { LIMITS, recordingTable, roundTrip, wireOf } from './codec-sample.ts';

/** A constant, since the linter forbids a property named `then`. */
const THEN = 'then';

/** Returns a value nested `levels` deep. */
function nested(levels: number, around: (value: unknown) => unknown = (value) => [value]): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = around(value);
  return value;
}

const writing = (value: unknown, limits: Partial<EncodeLimits> = {}) => {
  return () => encode(value, recordingTable(), { ...LIMITS, ...limits });
};

describe('the writer', () => {
  it.each<[string, (value: unknown) => unknown]>([
    ['arrays', (value) => [value]],
    ['objects', (value) => ({ value })],
    ['Maps', (value) => new Map([[value, 1]])],
    ['Sets', (value) => new Set([value])],
  ])('refuses a nesting of %s beyond the limit, at any depth', (_title, around) => {
    expect(writing(nested(500, around))).not.toThrow();
    expect(writing(nested(501, around))).toThrow('is nested deeper than 500 levels');
    expect(writing(nested(100_000, around))).toThrow('is nested deeper than 500 levels');
  });

  it('refuses an endless value', () => {
    const endless = (): object => ({
      get next() {
        return endless();
      },
    });
    expect(writing(endless())).toThrow('is nested deeper than 500 levels');
  });

  it('checks the length of an array first', () => {
    const empty: unknown[] = [];
    empty.length = 2 ** 32 - 1;
    expect(writing({ list: empty })).toThrow(
      'value is over the limit of 1000000 elements in one transfer (reached at value.list) and cannot cross',
    );
    expect(writing(new Proxy([], { get: () => Number.NaN }))).toThrow('value is an array without a length');
    expect(writing(new Proxy([], { get: () => 1e15 }))).toThrow('over the limit');
  });

  it.each<[string, unknown]>([
    [
      'items',
      [
        [1, 2, 3],
        [4, 5, 6, 7],
      ],
    ],
    ['properties', { a: 1, b: 2, c: 3, d: 4, e: { f: 5, g: 6, h: 7, i: 8 } }],
    ['entries of Maps', new Map([[1, 1]])],
    ['items of Sets', new Set([1, 2])],
    ['functions', [() => 1]],
    ['buffers', [new Uint8Array(0)]],
    ['names of arrays', Object.assign([], { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9 })],
  ])('counts %s', (_title, value) => {
    expect(writing(value, { maxElements: 9 })).toThrow('over the limit of 9 elements');
    expect(writing(value, { maxElements: 12 })).not.toThrow();
  });

  it('stops at the byte limit before copying a long text', () => {
    const long = 'x'.repeat(2 ** 26);
    expect(writing([long])).toThrow(
      'value is over the limit of 16777216 bytes in one transfer (reached at value[0])',
    );
    expect(writing({ [long]: 1 })).toThrow('over the limit of 16777216 bytes');
    expect(writing(new Map([[1, long]]))).toThrow('reached at value.get(1)');
    expect(writing(new Error(long))).toThrow('over the limit of 16777216 bytes');
    expect(writing(1n << (2n ** 27n))).toThrow('over the limit of 16777216 bytes');
    expect(writing(new Uint8Array(2 ** 25))).toThrow('over the limit of 16777216 bytes');
    expect(writing(Array.from({ length: 1000 }, () => 'x'.repeat(17_000)))).toThrow(
      'over the limit of 16777216 bytes',
    );
    expect(writing(Array.from({ length: 40 }, () => new Uint8Array(2 ** 19)))).toThrow(
      'over the limit of 16777216 bytes',
    );
    expect(writing('\u0000'.repeat(2 ** 23))).toThrow('over the limit of 16777216 bytes');
  });

  it('writes what its reader accepts, up to the byte limit', () => {
    const value = {
      list: ['a"', -0, 12.5, [new Date(7)], 2n ** 99n],
      map: new Map([['k', new Set([/a/g])]]),
      bytes: new Uint8Array(9),
      error: new Error('e'),
    };
    const { wire } = encode(value, undefined, LIMITS);
    const whole = wire.text.length + wire.bytes!.length;
    for (let maxBytes = 0; maxBytes < whole + 200; maxBytes++) {
      const limits = { ...LIMITS, maxBytes };
      if (maxBytes < whole) expect(() => encode(value, undefined, limits)).toThrow('over the limit');
      else if (maxBytes >= whole + 128) {
        expect(decode(encode(value, undefined, limits).wire, undefined, limits)).toStrictEqual(value);
      }
    }
  });

  it('writes what its reader accepts, up to the element limit', () => {
    const value = {
      list: [1, [2], new Array(3), () => 1],
      map: new Map([['k', new Set([/a/g])]]),
      error: new Error('e'),
      text: 't',
    };
    let least = 0;
    for (let maxElements = 1; maxElements < 120; maxElements++) {
      const limits = { ...LIMITS, maxElements };
      try {
        const { wire } = encode(value, recordingTable(), limits);
        least ||= maxElements;
        expect(() => decode(wire, recordingTable(), limits)).not.toThrow();
        expect(() => decode(wire, recordingTable(), { ...limits, maxElements: least - 1 })).toThrow(
          'elements',
        );
      } catch (error) {
        if (least > 0) throw error;
      }
    }
    expect(least).toBeGreaterThan(60);
  });
});

describe('the reader', () => {
  const functionTable = () =>
    Object.assign(recordingTable(), { home: (id: number) => (id === 0 ? () => 1 : undefined) });

  it.each<[string, string, ...unknown[]]>([
    ['a slot that is an object', 'V', {}],
    ['an empty slot', 'V', []],
    ['a slot of three parts', 'V', ['b', '1', '2']],
    ['a slot of an unknown kind', 'V', ['x']],
    ['a pair of an unknown kind', 'V', ['x', '1']],
    ['a hole', 'V', ['h']],
    ['a number of an unknown name', 'V', ['n', '1']],
    ['a number named as what every object has', 'V', ['n', 'toString']],
    ['a bigint that is not text', 'V', ['b', 1]],
    ['a bigint without digits', 'V', ['b', '']],
    ['a negative bigint without digits', 'V', ['b', '-']],
    ['a bigint of other digits', 'V', ['b', '-0x1']],
    ['a reference beyond the nodes', 'V', [1]],
    ['a reference to the root', 'VA', [0], []],
    ['a reference that is not a place', 'VA', [0.5], []],
    ['a reference below all', 'VA', [-1], []],
    ['a reference to the kinds', 'VA', [1], [[2]]],
    ['a reference that leaves nodes out', 'VAA', [2], [], []],
    ['a node that nothing refers to', 'VA', 1, []],
    ['a node that refers to itself alone', 'VAA', [1], [], [[2]]],
    ['kinds for fewer nodes', 'V', [1], []],
    ['kinds for more nodes', 'VAA', [1], []],
    ['a root of another kind', 'A', [1]],
    ['a root in the midst', 'VV', [1], [1, 2]],
    ['an unknown kind', 'VZ', [1], [1, 2]],
    ['an object that is a list', 'VO', [1], []],
    ['an object that is nothing', 'VO', [1], null],
    ['an array that is an object', 'VA', [1], {}],
    ['an array whose item is an object', 'VA', [1], [{}]],
    ['an array of holes without a length', 'Va', [1], []],
    ['an array of holes with half an item', 'Va', [1], [3, 0]],
    ['an array with a negative length', 'Va', [1], [-1]],
    ['an array with a broken length', 'Va', [1], [1.5]],
    ['an array with a length that is a text', 'Va', [1], ['1']],
    ['an array longer than the limit', 'Va', [1], [2 ** 32 - 1]],
    ['arrays longer than the limit together', 'VAaa', [1], [[2], [3]], [600_000], [600_000]],
    ['an item beyond the length', 'Va', [1], [2, 2, 'x']],
    ['an item beyond the length, by name', 'Va', [1], [2, '4294967290', 'x']],
    ['a length given as a name', 'Va', [1], [2, 'length', 9]],
    ['a name that is an object', 'Va', [1], [2, {}, 9]],
    ['a Map with half an entry', 'VM', [1], [1]],
    ['a Map that is an object', 'VM', [1], {}],
    ['a Set that is a text', 'VS', [1], 'a'],
    ['a date that is a text', 'VD', [1], '1'],
    ['a date out of range', 'VD', [1], 8.64e15 + 1],
    ['bytes that were not sent', 'VB', [1], ['Uint8Array', 1]],
    ['a negative number of bytes', 'VB', [1], ['Uint8Array', -1]],
    ['a regular expression with an unknown flag', 'VR', [1], ['a', 'gg']],
    ['a regular expression that is invalid', 'VR', [1], ['(', '']],
    ['a regular expression of one part', 'VR', [1], ['a']],
    ['an error whose message is a number', 'VE', [1], ['Error', 1]],
    ['an error whose name is a list', 'VE', [1], [['Error'], '']],
    ['a function with a broken id', 'VF', [1], [-1, '']],
    ['a function with a name too long', 'VF', [1], [0, 'x'.repeat(65)]],
    ['a function of ours that was never given', 'Vf', [1], 1],
    ['a function of ours with a broken id', 'Vf', [1], '0'],
    ['a text that is a list', 'VT', [1], []],
    ['an object that would be awaited', 'VOF', [1], { [THEN]: [2] }, [0, 'then']],
    ['an array that would be awaited', 'Vaf', [1], [0, 'then', [2]], 0],
    [
      'errors beyond what they cost',
      `VA${'E'.repeat(32_000)}`,
      [1],
      Array.from({ length: 32_000 }, (_, at) => [at + 2]),
      ...new Array(32_000).fill(['', '']),
    ],
  ])('refuses %s', (_title, kinds, ...table) => {
    expect(() => decode(wireOf(kinds, ...table), functionTable(), LIMITS)).toThrow(
      /^The sandbox sent a value that cannot be read: /,
    );
  });

  it.each<[string, unknown]>([
    ['no text', {}],
    ['a text that is an object', { text: { length: 1 } }],
    ['a value that is not a JSON', { text: '[1,' }],
    ['JSON that is not a table', { text: '{"length":2}' }],
    ['an empty table', { text: '[]' }],
    ['a table of kinds alone', { text: '[""]' }],
    ['no kinds', { text: '[1,["V"]]' }],
    ['a nesting of the text itself', { text: '['.repeat(1e6) + ']'.repeat(1e6) }],
    ['more text than the limit', { text: `["${'x'.repeat(2 ** 24)}","V"]` }],
    ['bytes that nothing shows', { text: '[1,"V"]', bytes: new Uint8Array(1) }],
    ['bytes of another kind', { text: '[1,"V"]', bytes: new Int8Array(1) }],
    ['bytes that are a list', { text: '[[1],["Uint8Array",1],"VB"]', bytes: [1] }],
    ['bytes of no kind', { text: '[[1],["__proto__",1],"VB"]', bytes: new Uint8Array(1) }],
    ['bytes that are half an element', { text: '[[1],["Int16Array",3],"VB"]', bytes: new Uint8Array(3) }],
    [
      'the same bytes twice',
      { text: '[[1],[[2],[3]],["Uint8Array",2],["Uint8Array",2],"VABB"]', bytes: new Uint8Array(2) },
    ],
  ])('refuses %s', (_title, wire) => {
    expect(() => decode(wire as never, functionTable(), LIMITS)).toThrow(
      /^The sandbox sent a value that cannot be read: /,
    );
  });

  it('refuses functions without a function table', () => {
    expect(() => decode(wireOf('VF', [1], [0, '']), undefined, LIMITS)).toThrow(
      'a function where none is allowed',
    );
    expect(() => decode(wireOf('Vf', [1], 0), undefined, LIMITS)).toThrow('a function that was never passed');
  });

  it('refuses a nesting beyond the limit', () => {
    const chain = (levels: number) =>
      wireOf(
        `V${'A'.repeat(levels)}`,
        [1],
        ...Array.from({ length: levels }, (_, at) => (at + 1 < levels ? [[at + 2]] : [])),
      );
    expect(() => decode(chain(500), undefined, LIMITS)).not.toThrow();
    expect(() => decode(chain(501), undefined, LIMITS)).toThrow('nested deeper than 500 levels');
    expect(() => decode(chain(100_000), undefined, LIMITS)).toThrow('nested deeper than 500 levels');
  });

  it('creates only data from hostile names', () => {
    const text = '[[1],{"__proto__":[2],"constructor":[2],"toString":1},{"polluted":true},"VOO"]';
    const value = decode({ text }, undefined, LIMITS) as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'toString']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    const named = decode(wireOf('Va', [1], [1, '__proto__', ['u']]), undefined, LIMITS);
    expect(Object.getPrototypeOf(named)).toBe(Array.prototype);
  });

  it('reads every text that a writer truncated at its limits', () => {
    const value = {
      a: [1, new Map([[{ b: [] }, 'c']]), new Set([[]])],
      d: new Array(4),
      e: new Error('f'),
      g: Object.assign([1], { h: [2] }),
    };
    for (let maxElements = 1; maxElements < 80; maxElements++) {
      const limits = { ...LIMITS, maxElements };
      expect(() => decode(encodeLenient(value, limits), undefined, LIMITS)).not.toThrow();
    }
    expect(roundTrip(value)).toStrictEqual(value);
  });
});
