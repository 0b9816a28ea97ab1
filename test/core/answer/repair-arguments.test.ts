/** How malformed arguments of a model are repaired, and which ones are left as they are: no value is ever invented. */
import { describe, expect, it } from '@jest/globals';
import {
  ARGUMENT_REPAIRS,
  type ArgumentRepair,
  describeArguments,
  readArguments,
} from '../../../src/core/answer/repair-arguments.ts';
import { LIMITS } from '../../../src/core/value/limit.ts';
import { type Random, SEEDS, seededRandom } from '../../support/seeded-random.ts';

const read = (text: string): [unknown, readonly ArgumentRepair[]] | undefined => {
  const { value, repairs } = readArguments(text) ?? {};
  return value && repairs && [value, repairs];
};

describe('the arguments of a call', () => {
  it.each<[string, string, unknown]>([
    [
      'an object is never touched',
      ' {"a": "{ \\" }", "b": [1, {"c": null}]} ',
      { a: '{ " }', b: [1, { c: null }] },
    ],
    ['an empty text means none', '  \n', {}],
    ['an id of a subagent stays', '{"agent_id": "sa-1f2e3d4c"}', { agent_id: 'sa-1f2e3d4c' }],
    ['an id of a call stays', '{"call_id": "call_abc123"}', { call_id: 'call_abc123' }],
  ])('%s', (_, text, expected) => {
    expect(read(text)).toEqual([expected, []]);
  });

  it.each<[string, ArgumentRepair, string, unknown]>([
    ['null stands for none', 'null', ' null ', {}],
    ['a JSON text of a JSON text is read', 'unquoted', '"{\\"a\\": \\"b\\"}"', { a: 'b' }],
    ['words behind it are left out', 'unwrapped', '{"x":1} trailing', { x: 1 }],
    ['words before it are left out', 'unwrapped', 'Here they are: {"x":1}', { x: 1 }],
    ['a fence around it is left out', 'unwrapped', '```json\n{"x": {"y": 1}}\n```', { x: { y: 1 } }],
    ['a bracket too many is left out', 'unwrapped', '{"x":1}}', { x: 1 }],
    ['line breaks in a text are read', 'escaped', '{"a":"one\ntwo\tthree"}', { a: 'one\ntwo\tthree' }],
    ['commas before closing brackets are left out', 'commas', '{"a":[1,2,],}', { a: [1, 2] }],
  ])('[AX-46] %s (%s)', (_, repair, text, expected) => {
    expect(read(text)).toEqual([expected, [repair]]);
  });

  it('[AX-46] several rules may apply at once', () => {
    expect(read('```\n{"a":"one\ntwo, }",}\n```')).toEqual([
      { a: 'one\ntwo, }' },
      ['unwrapped', 'escaped', 'commas'],
    ]);
    expect(read(JSON.stringify('{"a":1,} ok'))).toEqual([{ a: 1 }, ['unquoted', 'unwrapped', 'commas']]);
  });

  it.each<[string, string]>([
    ['text that is cut off', '{"path":"a.txt","content":"hel'],
    ['text that is cut off behind an object within it', '{"a":{"b":1},"c":"x'],
    ['text that is cut off behind another object', '{"a":1} {"b":'],
    ['a list that is cut off behind an object', '[{"x":1},{"y"'],
    ['two objects', '{"a":1}{"b":2}'],
    ['a list', '[{"a":1}]'],
    ['a number', '7'],
    ['a text', '"go"'],
    ['an empty text in quotes', '""'],
    ['single quotes', "{'a':1}"],
    ['words', 'the door'],
    ['a text in quotes that is cut off', '"{\\"a\\":1}'],
    ['a value that is missing', '{"a":}'],
  ])('[AX-47] are refused if they are %s', (_, text) => {
    expect(readArguments(text)).toBeUndefined();
  });

  it('[AX-47] that are refused are described: a model that was cut off reads to be shorter', () => {
    expect(describeArguments('{"path":"a.txt","content":"hel')).toMatch(
      /incomplete because the answer was cut off/,
    );
    expect(describeArguments('nonsense')).toBe('the arguments are not a JSON object');
    expect(describeArguments('[1]')).toBe('the arguments are not a JSON object');
  });

  it('are refused if they are nested too deeply, also inside quotes', () => {
    const deep = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect(readArguments(deep(LIMITS.jsonDepth))).toBeDefined();
    expect(readArguments(deep(LIMITS.jsonDepth + 1))).toBeUndefined();
    expect(readArguments(JSON.stringify(deep(100_000)))).toBeUndefined();
  });

  it('have a test above for each rule', () => {
    const shown = ['null', '"{}"', '{} x', '{"a":"\n"}', '{"a":1,}'].map(
      (text) => readArguments(text)?.repairs,
    );
    expect(shown).toEqual(ARGUMENT_REPAIRS.map((rule) => [rule]));
  });
});

/** Rounds per seed: 10,000 in all. */
const ROUNDS = 1250;

function anyObject(random: Random, levels = 3): Record<string, unknown> {
  const names = ['a', 'path', '{', '"', 'a b', '\n'];
  return Object.fromEntries(
    Array.from({ length: random.below(4) }, () => [random.pick(names), anyValue(random, levels - 1)]),
  );
}

function anyValue(random: Random, levels: number): unknown {
  const leaf = [null, true, -1.5, '', 'text', '{"a":1}', ',}', '\\"', 'one\ntwo', 'sa-12345678', '```'];
  if (levels === 0 || random.chance(0.5)) return random.pick(leaf);
  if (random.chance(0.5)) return anyObject(random, levels);
  return Array.from({ length: random.below(3) }, () => anyValue(random, levels - 1));
}

const PIECES = [
  '{',
  '}',
  '[',
  ']',
  '(',
  '"',
  '\\',
  ',',
  ':',
  ' ',
  '\n',
  '"a"',
  '1',
  'null',
  'x',
  '{"a":1}',
  '```json',
];

describe('[AX-46] any text', () => {
  it.each(SEEDS)('is parsed, repaired by a rule, or refused, never read in part (seed %i)', (seed) => {
    const random = seededRandom(seed);
    const wrong: unknown[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const object = anyObject(random);
      const text = JSON.stringify(object, null, random.pick([0, 2]));
      const cut = text.slice(0, 1 + random.below(text.length - 1));
      const soup = Array.from({ length: 1 + random.below(12) }, () => random.pick(PIECES)).join('');
      const same = (given: string) => JSON.stringify(readArguments(given)?.value) === JSON.stringify(object);
      if (!same(text) || readArguments(text)?.repairs.length !== 0) wrong.push(['not as it is', text]);
      if (!same(JSON.stringify(text))) wrong.push(['not unquoted', text]);
      if (!same(`Sure:\n\`\`\`json\n${text}\n\`\`\``)) wrong.push(['not unwrapped', text]);
      if (readArguments(cut) || readArguments(`Sure: ${cut}`)) wrong.push(['a part', cut]);
      const read = readArguments(soup);
      const again = read && readArguments(JSON.stringify(read.value));
      if (read && (again?.repairs.length !== 0 || JSON.stringify(again.value) !== JSON.stringify(read.value)))
        wrong.push(['another the second time', soup]);
    }
    expect(wrong).toEqual([]);
  });
});
