/** What continue-as-new carries: readable by every later build, never large. */
import { describe, expect, it } from '@jest/globals';
import type { IncomingItem, Refusal } from '../../src/core/thread/item.ts';
import { ThreadQueue } from '../../src/core/thread/queue.ts';
import { createCarried, fromSnapshot, parseSnapshot, toSnapshot } from '../../src/core/thread/snapshot.ts';
import { LIMITS, utf8Length } from '../../src/core/value/limit.ts';
import { aSnapshot } from './sample.ts';

const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('carried state', () => {
  it('is unchanged after a JSON round trip', () => {
    const snapshot = aSnapshot();
    expect(parseSnapshot(throughJson(snapshot))).toEqual(snapshot);
  });

  it.each([undefined, null, 'text', {}, { ...aSnapshot(), version: 0 }, { ...aSnapshot(), version: 2 }])(
    'with an unknown version is refused: %#',
    (value) => {
      expect(() => parseSnapshot(value)).toThrow(/version .* is unknown to this worker/);
    },
  );

  it.each([
    ['waiting', '3'],
    ['inline', {}],
    ['taken', -0.5],
    ['seen', null],
    ['arrived', Number.NaN],
    ['afterStep', 1.5],
    ['turnOpen', 1],
    ['parked', 'no'],
    ['executionId', undefined],
    ['steps', null],
    ['totalSteps', '7'],
    ['rejections', undefined],
    ['settings', null],
    ['storeId', 1],
    ['agent', null],
    ['status', undefined],
    ['session', 'a'],
    ['sideSteps', null],
    ['stopReason', 1],
  ])('that is damaged is refused with its field: %s', (field, value) => {
    expect(() => parseSnapshot({ ...aSnapshot(), [field]: value })).toThrow(`damaged at "${field}"`);
  });
});

describe('a run started from a snapshot', () => {
  it('takes all of it: the next run passes on the same', () => {
    const snapshot = aSnapshot();
    const { queue, ...carried } = fromSnapshot(snapshot);
    if (!queue) throw new Error('A snapshot has a queue.');
    expect(toSnapshot({ queue, ...carried }, snapshot.settings)).toEqual(snapshot);
  });

  it('without one is an idle thread of its initial agent with an unknown store', () => {
    const { turn, ...others } = createCarried('helper');
    expect(others).toEqual({ parked: false, rejections: [], agent: 'helper', status: 'idle' });
    expect(turn).toMatchObject({ afterStep: 0, turnOpen: false, executionId: null, session: null });
  });
});

/** Spills as `continueThread` does before it carries the queue. */
function shedContent(queue: ThreadQueue): void {
  while (queue.inlineBytes > LIMITS.carriedInlineBytes) queue.spilled(queue.nextSpill());
}

/** The longest possible id in JSON: every character is escaped. */
const longestId = (n: number): string => `${n}`.padEnd(LIMITS.idChars, '"\\');

const refusal = (n: number): Refusal => ({
  code: 'MessageTooLarge',
  reason: 'x'.repeat(170),
  id: longestId(n),
});

describe('the size of carried state', () => {
  const items: [string, (n: number) => IncomingItem][] = [
    ['ids of stored content', (n) => ({ kind: 'stored', id: longestId(n), role: 'user' })],
    ['a letter each', (n) => ({ kind: 'message', id: longestId(n), role: 'user', content: 'x' })],
    [
      'characters that JSON escapes',
      (n) => ({ kind: 'message', id: longestId(n), role: 'user', content: '\u0001'.repeat(600) }),
    ],
    ['small tools without an id', () => ({ kind: 'tool', name: 'look', arguments: {} })],
    [
      'the largest inline content',
      (n) => ({ kind: 'message', id: longestId(n), role: 'user', content: '€'.repeat(10_900) }),
    ],
  ];

  it.each(items)('stays within its limit with 1,000 queued items of %s', (_what, item) => {
    const queue = new ThreadQueue('0'.repeat(36));
    // A step that was cut off has the first 20 in hand.
    for (let n = 0; n < 20; n++) queue.accept(item(n));
    queue.take();
    for (let n = 20; n < 1000; n++) queue.accept(item(n));
    shedContent(queue);
    const rejections = Array.from({ length: LIMITS.rejections }, (_, n) => refusal(n));
    const snapshot = aSnapshot({ ...queue.toState(), rejections, agent: '"'.repeat(128) });
    expect(utf8Length(JSON.stringify(snapshot))).toBeLessThanOrEqual(LIMITS.carriedBytes);
    expect(queue.size).toBe(1000);
    expect(parseSnapshot(throughJson(snapshot))).toEqual(snapshot);
  });
});
