/** The cost of redaction in counted steps, for any texts and secrets; the fast search finds what a plain one does. */
import { describe, expect, it } from '@jest/globals';
import { createAutomaton } from '../../src/core/redaction/automaton.ts';
import { buildRedactor } from '../../src/core/redaction/redactor.ts';
import { SEEDS, seededRandom } from '../support/seeded-random.ts';

const redactorOf = (values: readonly string[]) =>
  buildRedactor(values.map((value, n) => ({ value, mark: `[${n}]` })));
const MEGABYTE = 1024 * 1024;
const SMALL = 64 * 1024;
/** Bound of the steps per character of a text, for the views of all levels and the digits of each. */
const STEPS = 120;

const base64 = (text: string) => Buffer.from(text).toString('base64');
const fill = (piece: string, length: number) =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

const HOSTILE: [string, readonly string[], string][] = [
  ['one character again and again', ['aaaa'], 'a'],
  [
    'runs above what tables hold, with one beginning',
    Array.from({ length: 40 }, (_, n) => 'a'.repeat(n + 300)),
    'a',
  ],
  ['a long run of one character', ['a'.repeat(64 * 1024)], 'a'],
  ['a long run that ends otherwise', [`${'a'.repeat(60_000)}b`], 'a'],
  ['runs that are prefixes of one another', Array.from({ length: 300 }, (_, n) => 'a'.repeat(n + 4)), 'a'],
  ['a period', ['abababab', 'babababa', 'abababac'], 'ab'],
  [
    'suffixes of one another',
    Array.from({ length: 200 }, (_, n) => `${'a'.repeat(n)}bcde`),
    `${'a'.repeat(199)}bcd`,
  ],
  [
    'one within the base64 of another',
    ['secret', base64('my secret'), base64(base64('my secret'))],
    base64(base64('my secret')),
  ],
  ['backslashes', ['\\\\\\\\"'], '\\'],
  ['percent signs', ['%%%%41'], '%25'],
  ['ampersands', ['&amp;&amp;'], '&amp;'],
  ['entities that never end', ['&&&&'], '&#0000000'],
  ['spaces', [`${'line of a key in lines'}\n${'another line of it here'}`], ' '],
  ['digits with line breaks', ['secret word'], 'QUJD\n \n'],
];

describe('redaction takes a bounded number of steps per character', () => {
  it.each(HOSTILE)('%s', (_title, values, piece) => {
    const redactor = redactorOf(values);
    const [one, four] = [SMALL, 4 * SMALL].map((length) => redactor.measure(fill(piece, length)).steps);
    expect(one).toBeLessThan(STEPS * SMALL);
    // Four times the text takes four times the steps, besides what a redactor does once per text.
    expect(four).toBeLessThan(4 * (one as number) + SMALL);
  });

  it('for a text of four megabytes that is one repeated secret', () => {
    const { text, steps } = redactorOf(['aaaa']).measure('a'.repeat(4 * MEGABYTE));
    expect(text).toBe('[0]');
    expect(steps).toBeLessThan(STEPS * 4 * MEGABYTE);
  });

  it('for a text of one megabyte with hundreds of secrets, some of 64 KiB', () => {
    const line = (n: number) => fill(`line ${n} of this key `, 60);
    const large = Array.from({ length: 10 }, (_, n) => `${n} ${'x'.repeat(64 * 1024)}`);
    const many = Array.from({ length: 300 }, (_, n) => `secret-${n}-${line(n)}`);
    const pem = Array.from({ length: 1000 }, (_, n) => line(n)).join('\n');
    const redactor = redactorOf([...large, ...many, pem]);
    const text = `${fill('lorem ipsum ', MEGABYTE)}${large[9]} ${many[299]} ${JSON.stringify(pem).slice(1, -1)}`;
    const { text: redacted, steps } = redactor.measure(text);
    expect(redacted.slice(MEGABYTE)).toBe('[9] [309] [310]');
    expect(steps).toBeLessThan(STEPS * text.length);
    const total = [...large, ...many, pem].join('').length;
    expect(redactor.weight).toBeLessThan(4 * total);
  });
});

/** A plain search: the longest pattern that ends at each position. */
function findPlainly(text: string, patterns: readonly string[]): { start: number; end: number }[] {
  return Array.from({ length: text.length + 1 }, (_, end) => {
    const lengths = patterns.filter((each) => text.slice(0, end).endsWith(each)).map(({ length }) => length);
    return { start: end - Math.max(0, ...lengths), end };
  });
}

describe('the search over bytes', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);

  it.each(SEEDS)(
    'finds the same as a naive search, also patterns too large for its tables (seed %i)',
    (seed) => {
      const random = seededRandom(seed);
      const word = (length: number) =>
        Array.from({ length }, () => random.pick(['a', 'a', 'a', 'b'])).join('');
      const long = Array.from({ length: 3 }, () => fill(word(1 + random.below(3)), 250 + random.below(80)));
      const patterns = [
        ...Array.from({ length: 12 }, () => word(1 + random.below(6))),
        ...long,
        `${long[0]}b`,
      ];
      const text = Array.from({ length: 12 }, () =>
        random.chance(0.5) ? random.pick(patterns) : word(30),
      ).join('');
      const automaton = createAutomaton(patterns.map((pattern, owner) => ({ bytes: bytes(pattern), owner })));
      const { finds } = automaton.search(bytes(text));
      // The same characters are covered, whatever the ranges.
      const covered = (ranges: readonly { start: number; end: number }[]) =>
        [...text].map((_, at) => ranges.some(({ start, end }) => start <= at && at < end));
      expect(covered(finds.flat())).toEqual(covered(findPlainly(text, patterns)));
    },
  );

  it('returns the length of the partial pattern at the end of a text', () => {
    const automaton = createAutomaton([{ bytes: bytes(`${'ab'.repeat(200)}c`), owner: 7 }]);
    expect(automaton.search(bytes('xaba')).tail).toEqual({ length: 3, owner: 7 });
    expect(automaton.search(bytes(`x${'ab'.repeat(150)}`)).tail).toEqual({ length: 300, owner: 7 });
    expect(automaton.search(bytes('abx')).tail.length).toBe(0);
  });
});
