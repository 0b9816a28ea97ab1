/** The texts around a summary. */
import { describe, expect, it } from '@jest/globals';
import {
  composeRecord,
  composeSnippet,
  findAsked,
  openWithSummary,
  readSummary,
} from '../../src/core/context/summary.ts';
import { asks, result, says, user } from './context-rows.ts';

const BEFORE = { until: 1, messages: 13, text: 'Paris is asked for.', asked: 'Where?' };

describe('the transcript that a model summarises', () => {
  it('names who said what, with calls and results, after the previous summary', () => {
    const rows = [user('Where?'), asks(1, ['c']), result(1, 'c', 'found'), says('There.')];
    expect(composeRecord(rows, BEFORE, 10_000).split('\n')).toEqual([
      'Summary of earlier messages:',
      'Paris is asked for.',
      '',
      'Record:',
      '[user] Where?',
      '[assistant] [calls look {}]',
      '[tool look] found',
      '[assistant] There.',
    ]);
  });

  it('fills its length limit: the longest messages are truncated, short ones are not', () => {
    const rows = [user('short'), says('y'.repeat(5000)), user('z'.repeat(9000)), says('last')];
    const record = composeRecord(rows, undefined, 1000);
    expect(record.length).toBeLessThanOrEqual(1000);
    expect(record.length).toBeGreaterThan(950);
    expect(record).toContain('[user] short\n');
    expect(record).toContain(' … ');
    expect(record.endsWith('[assistant] last')).toBe(true);
  });

  it('is limited for any number of messages', () => {
    expect(
      composeRecord(
        Array.from({ length: 50 }, () => user('x'.repeat(90))),
        BEFORE,
        300,
      ).length,
    ).toBeLessThan(400);
  });
});

describe('the replacement for a failed summary', () => {
  it('[AX-23] has the newest 12 messages, 160 characters of each, 700 in total', () => {
    const rows = Array.from({ length: 20 }, (_, index) => user(`${index} ${'w'.repeat(300)}`));
    const snippet = composeSnippet(rows, undefined);
    expect(snippet.length).toBe(700);
    expect(snippet.split('\n')[0]).toBe(`[user] 8 ${'w'.repeat(151)}`);
    const short = Array.from({ length: 20 }, (_, index) => user(`${index}`));
    expect(composeSnippet(short, undefined).split('\n')).toHaveLength(12);
  });

  it('keeps the previous summary', () => {
    expect(composeSnippet([user('more')], BEFORE)).toBe('Paris is asked for.\n[user] more');
  });
});

describe('a summary', () => {
  it.each([
    ['  - a\n- b  ', '- a\n- b'],
    ['[compacted] - a', '- a'],
    [' \n ', undefined],
    ['[compacted]', undefined],
    [null, undefined],
  ])('answered by a model as %j is read as %j', (said, read) => {
    expect(readSummary(said)).toBe(read);
  });

  it('is limited in length', () => expect(readSummary('x'.repeat(9000))).toHaveLength(4000));

  it('precedes the remaining rows as one tagged system message', () => {
    expect(openWithSummary(BEFORE, [user('And?')])).toEqual([
      {
        role: 'system',
        content: '[compacted] Summary of the 13 messages before this point:\nParis is asked for.',
      },
    ]);
    expect(openWithSummary(undefined, [says('x')])).toEqual([]);
  });

  it('is followed by the user’s question if the remaining rows do not begin with a user', () => {
    expect(openWithSummary(BEFORE, [says('There.')])[1]).toEqual({ role: 'user', content: 'Where?' });
    expect(openWithSummary({ ...BEFORE, asked: null }, [says('There.')])[1]).toEqual({
      role: 'user',
      content: '[Earlier messages are only in the summary.]',
    });
  });

  it('remembers the last user message, also from a previous summary', () => {
    expect(findAsked([user('one'), user('two'), says('x'), user(' ')], BEFORE)).toBe('two');
    expect(findAsked([says('x')], BEFORE)).toBe('Where?');
    expect(findAsked([says('x')], undefined)).toBeNull();
  });
});
