/** Characters per token: by the script of a text, and as a model's reports correct it. */
import { describe, expect, it } from '@jest/globals';
import { estimateMessage, estimateText } from '../../src/core/context/context-estimate.ts';
import { prepareManifest } from '../../src/core/context/context-manifest.ts';
import {
  learnCount,
  type ModelCount,
  measureRequest,
  readCount,
} from '../../src/core/context/model-count.ts';
import { charactersPerToken } from '../../src/core/context/token-ratio.ts';
import { user } from './context-rows.ts';

const prose = 'The quick brown fox jumps over the lazy dog, and then some more. '.repeat(50);

describe('before a report, a text is taken to have', () => {
  it.each([
    ['English', prose, 4, 4],
    ['Chinese', '敏捷的棕色狐狸跳过了懒狗。然后又继续前进。'.repeat(50), 1, 1.1],
    ['Korean', '빠른 갈색 여우가 게으른 개를 뛰어넘는다. '.repeat(50), 1, 1.4],
    ['Russian', 'Съешь же ещё этих мягких французских булок, да выпей чаю. '.repeat(50), 2, 2.5],
    ['code', 'if (a[0] !== b?.c) { return { x: [1, 2], y: "z" }; }\n'.repeat(50), 3, 3],
    [
      'base64',
      Buffer.from(Array.from({ length: 3000 }, (_, at) => (at * 7919) % 251)).toString('base64'),
      1.5,
      1.5,
    ],
    ['emoji', '🦊🐶🌳'.repeat(50), 1, 1],
    ['nothing', '', 4, 4],
  ])('for %s, as many characters a token as its script has', (_, text, least, most) => {
    const ratio = charactersPerToken(text);
    expect(ratio).toBeGreaterThanOrEqual(least);
    expect(ratio).toBeLessThanOrEqual(most);
  });
});

/** Learns these ratios, one report each. */
const learn = (ratios: readonly number[], assumed = 4): ModelCount =>
  ratios.reduce<ModelCount>((known, ratio) => learnCount(known, { report: { ratio, assumed } }), {
    last: [],
  });

describe('the ratio of a model', () => {
  it('changes by at most half with each report', () => {
    expect(learn([1]).ratio).toBe(2);
    expect(learn([1, 1]).ratio).toBe(1);
    expect(learn([8]).ratio).toBe(6);
  });

  it('is the median of the last five reports, so an outlier changes nothing', () => {
    const steady = learn([2, 2, 2, 2, 2]);
    expect(steady.ratio).toBe(2);
    expect(learnCount(steady, { report: { ratio: 8, assumed: 2 } }).ratio).toBe(2);
    expect(learn([8, 8, 8, 8, 8, 1, 1, 1, 1, 1]).last).toEqual([1, 1, 1, 1, 1]);
  });

  it('stays between half a character and eight', () => {
    expect(learn(Array.from({ length: 9 }, () => 0.5)).ratio).toBe(0.5);
    const { report } = readCount({ chars: 1000, apart: 4, byScript: 250 }, 9000);
    expect(report?.ratio).toBe(0.5);
    expect(readCount({ chars: 10_000, apart: 4, byScript: 2500 }, 1010).report?.ratio).toBe(8);
  });
});

describe('a usage report', () => {
  const request = {
    messages: [
      { role: 'system' as const, content: prose },
      {
        role: 'user' as const,
        content: [
          { type: 'text' as const, text: prose },
          { type: 'image' as const, data: 'AAAA', mediaType: 'image/png' },
        ],
      },
    ],
  };

  it('counts texts only: images and message overhead are subtracted', () => {
    const sent = measureRequest(request);
    expect(sent).toEqual({ chars: 2 * prose.length, apart: 1008, byScript: Math.ceil(prose.length / 4) * 2 });
    expect(readCount(sent, 1008 + prose.length).report).toEqual({ ratio: 2, assumed: expect.closeTo(4, 1) });
  });

  it('mostly about an image or a short text is ignored', () => {
    expect(readCount(measureRequest(request), 1800)).toEqual({});
    expect(readCount({ chars: 300, apart: 8, byScript: 75 }, 100)).toEqual({});
  });

  it('far below the size sent comes from a truncating server, and is ignored', () => {
    expect(readCount({ chars: 40_000, apart: 40, byScript: 10_000 }, 2048)).toEqual({
      undercounted: { estimated: 10_040, counted: 2048 },
    });
    expect(
      learnCount({ last: [4], ratio: 4 }, { undercounted: { estimated: 10_040, counted: 2048 } }),
    ).toEqual({
      ...{ last: [4], ratio: 4, told: true },
    });
  });
});

describe('an estimate', () => {
  it('follows the ratio for texts, messages and manifests', () => {
    expect([estimateText(prose), estimateText(prose, 2)]).toEqual(
      [prose.length / 4, prose.length / 2].map(Math.ceil),
    );
    const row = user(prose);
    const whole = { past: false, recent: true };
    expect(estimateMessage(row, whole, { ratio: 2 })).toBe(4 + Math.ceil(prose.length / 2));
    const request = { messages: [{ role: 'user' as const, content: prose }] };
    expect(prepareManifest(request, null, 2).totalEstimatedTokens).toBe(4 + Math.ceil(prose.length / 2));
  });

  it('of a truncated message is that of the remaining text', () => {
    const row = user('x'.repeat(40_000));
    const whole = { past: false, recent: true };
    expect(estimateMessage(row, whole, { longest: 4000 })).toBe(1004);
    expect(estimateMessage(row, whole, { room: 5000 })).toBe(2004);
    expect(estimateMessage(row, whole, { room: 20_000 })).toBe(10_004);
  });
});
