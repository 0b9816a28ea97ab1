/** The place in the author's code that a stack names. */
import { describe, expect, it } from '@jest/globals';
import { authorPlace, framesOf } from '../../src/author/guard/author-fault.ts';

const stack = (...frames: string[]) =>
  ['Error: said a secret', ...frames.map((each) => `    at ${each}`)].join('\n');

describe('the location in a stack', () => {
  it.each([
    ['of a function', ['pay (/home/me/shop/agents/tools/pay.ts:12:5)'], 'agents/tools/pay.ts:12:5'],
    ['without a name', ['file:///home/me/shop/agents/tools/pay.ts:1:2'], 'agents/tools/pay.ts:1:2'],
    ['async', ['async Object.pay (/shop/agents/tools/pay.ts:3:4)'], 'agents/tools/pay.ts:3:4'],
    ['of a reload', ['pay (file:///shop/lib/pay.mjs?everthread=3:1:2)'], 'shop/lib/pay.mjs:1:2'],
    ['outside of agents', ['pay (/home/me/shop/lib/bank.ts:7:8)'], 'shop/lib/bank.ts:7:8'],
    [
      'behind Node and packages',
      [
        'JSON.parse (<anonymous>)',
        'node:internal/timers:5:6',
        'f (/shop/node_modules/got/index.js:1:1)',
        'pay (/shop/agents/tools/pay.ts:9:9)',
      ],
      'agents/tools/pay.ts:9:9',
    ],
  ])('%s is file, line and column', (_what, frames, place) => {
    expect(authorPlace(stack(...frames))).toBe(place);
  });

  it('is undefined if the stack has none', () => {
    expect(authorPlace(stack('JSON.parse (<anonymous>)'))).toBeUndefined();
    expect(authorPlace('')).toBeUndefined();
  });

  it('the frames alone do not contain the thrown message', () => {
    expect(framesOf(stack('pay (/shop/pay.ts:9:9)'))).toBe('    at pay (/shop/pay.ts:9:9)');
  });
});
