/** The `guards` of agents and prompts: their forms, defaults and lower bounds, and the problems that are reported. */
import { describe, expect, it } from '@jest/globals';
import type { GuardsInput } from '../../src/definitions/guards-input.ts';
import { defineAgent, definePrompt } from '../../src/definitions/index.ts';

const agent = (guards: unknown) =>
  defineAgent({ name: 'helper', sideA: { prompt: 'talk' }, guards: guards as GuardsInput });
const prompt = (guards: unknown) =>
  definePrompt({
    name: 'talk',
    toolDescription: 'talks',
    prompt: 'You talk.',
    model: 'main',
    guards: guards as GuardsInput,
  });

describe('the field guards', () => {
  it.each([
    [true, { warning: 4, critical: 8, history: 30 }],
    [{}, { warning: 4, critical: 8, history: 30 }],
    [
      { warning: 1, history: 2 },
      { warning: 3, critical: 8, history: 8 },
    ],
    [{ critical: 2 }, { warning: 4, critical: 5, history: 30 }],
    [false, false],
  ])('[AX-74] loops %j: %j', (given, loops) => {
    expect(agent({ loops: given }).guards).toEqual({ loops });
    expect(prompt({ loops: given }).guards).toEqual({ loops });
  });

  it.each([
    [true, { thresholdMessages: 20, thresholdChars: 48_000, retainRecentMessages: 8, byWindow: false }],
    [
      { thresholdMessages: 2, thresholdChars: 3, retainRecentMessages: 1 },
      { thresholdMessages: 8, thresholdChars: 4000, retainRecentMessages: 4, byWindow: false },
    ],
    [
      { byWindow: true, retainRecentMessages: 6 },
      { thresholdMessages: 200, thresholdChars: 200_000, retainRecentMessages: 6, byWindow: true },
    ],
    [false, false],
  ])('[AX-22] compaction %j: %j', (given, compaction) => {
    expect(agent({ compaction: given }).guards).toEqual({ compaction });
    expect(prompt({ compaction: given }).guards).toEqual({ compaction });
  });

  it.each([
    [{}, 30],
    [{ max: 5 }, 5],
    [{ max: 500 }, 500],
    [{ max: 40 }, 40],
  ])('[AX-100] rounds %j: %i', (given, max) => {
    expect(agent({ rounds: given }).guards).toEqual({ rounds: { max } });
    expect(prompt({ rounds: given, loops: false }).guards).toEqual({ rounds: { max }, loops: false });
  });

  it('is absent by default', () => {
    expect(agent(undefined)).not.toHaveProperty('guards');
  });

  it.each([
    [{ loop: true }, /guards\.loop is not a field.*loops/],
    [{ loops: 4 }, /guards\.loops/],
    [{ loops: { warning: 'soon' } }, /guards\.loops\.warning must be a number/],
    [{ loops: { warning: 0 } }, /guards\.loops\.warning must be more than 0/],
    [{ rounds: 30 }, /guards\.rounds must be an object/],
    [{ rounds: { max: 'x' } }, /guards\.rounds\.max must be a number/],
    [{ compaction: 20 }, /guards\.compaction/],
    [{ compaction: { thresholdMessages: 'x' } }, /guards\.compaction\.thresholdMessages must be a number/],
    [{ compaction: { threshold: 9 } }, /guards\.compaction\.threshold is not a field/],
    [{ loops: { warn: 4 } }, /guards\.loops\.warn is not a field.*warning/],
  ])('refuses %j by its name', (guards, message) => {
    expect(() => agent(guards)).toThrow(message);
    expect(() => prompt(guards)).toThrow(message);
  });
});
