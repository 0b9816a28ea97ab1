/** What of a request's messages a model is sent, if it cannot hold all of them. */
import { describe, expect, it } from '@jest/globals';
import { CUT_SHARE, estimateProviderMessage } from '../../src/core/context/context-estimate.ts';
import { type FitTerms, fitMessages } from '../../src/core/context/fit-messages.ts';
import { textsOf } from '../../src/core/context/message-text.ts';
import { sanitiseHistory } from '../../src/core/context/sanitise.ts';
import type { ProviderMessage } from '../../src/core/message/provider.ts';

const system = (content = 'You help.'): ProviderMessage => ({ role: 'system', content });
const user = (content: string): ProviderMessage => ({ role: 'user', content });
const says = (content: string): ProviderMessage => ({ role: 'assistant', content });
const asks = (args: object, ...ids: readonly string[]): ProviderMessage => ({
  role: 'assistant',
  content: null,
  toolCalls: ids.map((id) => ({ id, name: 'look', arguments: { ...args } })),
});
const result = (toolCallId: string, content: string): ProviderMessage => ({
  ...{ role: 'tool', toolName: 'look', toolCallId },
  content,
});

const choose = (messages: readonly ProviderMessage[], room: number, rest: Partial<FitTerms> = {}) =>
  fitMessages(messages, {
    room,
    weigh: (message) => estimateProviderMessage(message, 4),
    firstLongest: (_, free) => Math.floor(free * CUT_SHARE * 4),
    mark: (omitted) => `[${omitted} left out]`,
    ...rest,
  });

const shown = (messages: readonly ProviderMessage[]) =>
  messages.map((message) => `${message.role}: ${textsOf(message).join().slice(0, 12)}`);
const weightOf = (messages: readonly ProviderMessage[]) =>
  messages.reduce((sum, each) => sum + estimateProviderMessage(each, 4), 0);
const long = (text: string, length: number) => text.padEnd(length, '.');

describe('messages that fit', () => {
  it('are sent unchanged', () => {
    const messages = [system(), user('a'), says('b'), user('c')];
    expect(choose(messages, 1000)).toEqual({ messages, dropped: 0, cut: [], fits: true });
  });
});

describe('messages that do not fit', () => {
  it('are dropped oldest first, and the rest begins with a user message', () => {
    const messages = [1, 2, 3, 4].flatMap((turn) => [
      user(long(`ask ${turn}`, 400)),
      says(long(`re ${turn}`, 400)),
    ]);
    const fitted = choose([system(), ...messages, user('now')], 600);
    expect(shown(fitted.messages)).toEqual([
      'system: You help.',
      'user: ask 3.......',
      'assistant: re 3........',
      'user: ask 4.......',
      'assistant: re 4........',
      'user: now',
    ]);
    expect(fitted).toMatchObject({ dropped: 4, fits: true, cut: [] });
  });

  it('keep the question, the summary, and the last calls with their results', () => {
    const steps = [1, 2, 3, 4].flatMap((step) => [
      asks({ step }, `c${step}`),
      result(`c${step}`, long(`found ${step}`, 400)),
    ]);
    const fitted = choose(
      [system(), system('[compacted] Summary'), user('the question'), ...steps, user('a reminder')],
      240,
    );
    expect(shown(fitted.messages)).toEqual([
      'system: You help.',
      'system: [compacted] ',
      'user: the question',
      'assistant: ',
      'tool: found 4.....',
      'user: a reminder',
    ]);
  });

  it('stay paired: a result is never sent without its call', () => {
    const steps = [1, 2, 3].flatMap((step) => [
      asks({ step }, `a${step}`, `b${step}`),
      result(`a${step}`, long('x', 300)),
      result(`b${step}`, 'y'),
    ]);
    for (let room = 0; room < 500; room += 7) {
      const { messages } = choose([system(), user('q'), ...steps], room);
      expect(sanitiseHistory(messages)).toEqual(messages);
    }
  });
});

describe('a message larger than any window', () => {
  const whole = `begin ${'x'.repeat(40_000)} end`;
  const turn = [system(), user('read it'), asks({ file: 'x'.repeat(500) }, 'c1'), result('c1', whole)];

  it('is truncated in the middle, and its call keeps its arguments', () => {
    const fitted = choose(turn, 2000);
    const text = textsOf(fitted.messages[3] as ProviderMessage).join();
    expect(text).toMatch(/^begin x+\[\d+ left out\]x+ end$/);
    expect(Number(/\[(\d+)/.exec(text)?.[1]) + text.replace(/\[.*\]/, '').length).toBe(whole.length);
    expect(fitted.messages[2]).toBe(turn[2]);
    expect(fitted.cut).toEqual([turn[3]]);
    expect(weightOf(fitted.messages)).toBeLessThanOrEqual(2000);
  });

  it('is truncated the same in every later request, even with more room', () => {
    const { messages, longest } = choose(turn, 2000);
    const later = [...turn, says('I have read it.'), user('and?')];
    for (const room of [2100, 2500, 100_000])
      expect(choose(later, room, { longest }).messages[3]).toEqual(messages[3]);
  });

  it('is truncated further if required messages would not fit', () => {
    const { longest = 0 } = choose(turn, 2000);
    const fitted = choose(turn, 600, { longest });
    expect(fitted.fits).toBe(true);
    expect(fitted.longest).toBeLessThan(longest);
  });

  it('shares the room with the other results of its step', () => {
    const calls = [
      system(),
      user('read all'),
      asks({}, 'a', 'b', 'c'),
      ...['a', 'b', 'c'].map((id) => result(id, whole)),
    ];
    const { messages, fits } = choose(calls, 2000);
    expect(fits).toBe(true);
    const lengths = messages.slice(3).map((each) => textsOf(each).join().length);
    expect(new Set(lengths).size).toBe(1);
  });

  it('is truncated if it is a user message, but not the system text', () => {
    const { messages, fits } = choose([system('x'.repeat(4000)), user(whole)], 2000);
    expect(messages[0]).toEqual(system('x'.repeat(4000)));
    expect(textsOf(messages[1] as ProviderMessage).join()).toContain('left out');
    expect(fits).toBe(true);
    expect(choose([system('x'.repeat(9000)), user('hi')], 2000).fits).toBe(false);
  });

  it('loses its images before its text, if the images take most of the room', () => {
    const image = { type: 'image' as const, data: 'AAAA', mediaType: 'image/png' };
    const asked = {
      role: 'user' as const,
      content: [{ type: 'text' as const, text: 'what is it?' }, image, image],
    };
    const { messages, fits } = choose([system(), asked], 1500);
    expect(messages[1]).toEqual({ role: 'user', content: 'what is it?' });
    expect(fits).toBe(true);
  });
});
