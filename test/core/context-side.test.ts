/** What each of two AI sides is shown of their conversation (runtime §4, definitions §12.3). */
import { describe, expect, it } from '@jest/globals';
import type { Side } from '../../src/core/author/thread-execution.ts';
import {
  type ContextMessage,
  callKeys,
  pairResults,
  parseCalls,
  resultKey,
} from '../../src/core/context/context.ts';
import { recentImages } from '../../src/core/context/context-attachment.ts';
import { toProviderMessage } from '../../src/core/context/context-provider.ts';
import { showToSide } from '../../src/core/context/context-side.ts';
import { sanitiseHistory } from '../../src/core/context/sanitise.ts';
import { roleOf } from '../../src/core/thread/session.ts';
import { type Random, SEEDS, seededRandom } from '../support/seeded-random.ts';
import { asks, assemble, lines, result, says, user } from './context-rows.ts';
import { aMessage, someCalls } from './sample.ts';

const show = (messages: readonly ContextMessage[], side: Side) => showToSide(pairResults(messages), side);

/** The messages as a provider receives them. */
function request(messages: readonly ContextMessage[], side: Side) {
  const view = { pictures: new Map(), reasoningOf: 'main' };
  return sanitiseHistory(show(messages, side).map((message) => toProviderMessage(message, view)));
}

/** An answer of side B, with calls. */
const asksAsB = (step: number, ids: readonly string[], content: string | null = null) =>
  user(content ?? '', { content, step, tool_calls: someCalls(...ids.map((id) => [id, 'look'] as const)) });

const IMAGE = {
  id: 'i',
  type: 'file',
  path: '/attachments/i.png',
  name: 'i.png',
  mimeType: 'image/png',
  size: 1,
} as const;

describe('[runtime 4a] the context of a side', () => {
  const stored = [
    aMessage({ role: 'system', content: 'Be brief.' }),
    user('the topic'),
    asks(1, ['a1'], { content: 'let me look' }),
    result(1, 'a1', 'seen by A'),
    says('what A says', { step: 2 }),
    asksAsB(3, ['b1']),
    result(3, 'b1', 'seen by B'),
    user('what B says', { step: 4 }),
    says('a silent word', { silent: true }),
  ];

  it('has its own messages as assistant, the other side’s as user, without that side’s calls: side A', () => {
    expect(lines(request(stored, 'a'))).toEqual([
      'system: Be brief.',
      'user: the topic',
      'assistant: let me look ->a1',
      'tool a1: seen by A',
      'assistant: what A says',
      'user: what B says',
      'assistant: a silent word',
    ]);
  });

  it('has its own messages as assistant, the other side’s as user, without that side’s calls: side B', () => {
    expect(lines(request(stored, 'b'))).toEqual([
      'system: Be brief.',
      'assistant: the topic',
      'user: let me look',
      'user: what A says',
      'assistant:  ->b1',
      'tool b1: seen by B',
      'assistant: what B says',
      'user: a silent word',
    ]);
  });

  it('separates calls of both sides with the same id', () => {
    const twice = [asks(1, ['c']), result(1, 'c', 'of A'), asksAsB(2, ['c']), result(2, 'c', 'of B')];
    expect(lines(request(twice, 'a'))).toEqual(['assistant:  ->c', 'tool c: of A']);
    expect(lines(request(twice, 'b'))).toEqual(['assistant:  ->c', 'tool c: of B']);
  });

  it('includes only its own reasoning', () => {
    const thought = { reasoning: 'hm', prompt: 'main', step: 1 };
    expect(request([says('yes', thought), user('no', thought)], 'b')).toEqual([
      { role: 'user', content: 'yes' },
      { role: 'assistant', content: 'no', reasoning: 'hm' },
    ]);
  });

  it('[definitions 15.5] shows images by their role for that side', () => {
    const drawn = show([says('look', { attachments: [IMAGE] })], 'b');
    expect(recentImages(drawn, 10)).toEqual([IMAGE]);
    expect(recentImages(show([says('look', { attachments: [IMAGE] })], 'a'), 10)).toEqual([]);
    const own = show([user('look', { attachments: [IMAGE] })], 'b');
    expect(recentImages(own, 10)).toEqual([]);
  });

  it('keeps a file that the other side sent without text', () => {
    const sent = says(null, { step: 1, attachments: [IMAGE], tool_calls: someCalls(['a', 'draw']) });
    expect(lines(request([sent], 'b'))).toEqual(['user: [image i.png, /attachments/i.png]']);
  });

  it('leaves the messages of a sub-prompt, which belongs to neither side, unchanged', () => {
    const within = [
      user('question', { depth: 1, step: 5 }),
      asks(5, ['s'], { depth: 1 }),
      result(5, 's', 'S', { depth: 1 }),
    ];
    for (const side of ['a', 'b'] as const) expect(show(within, side)).toEqual(within);
  });

  it('equals the stored messages if there is only one AI side', () => {
    const one = stored.filter(({ step }) => step === null || step < 3);
    expect(show(one, 'a')).toEqual(pairResults(one).map((each) => expect.objectContaining(each)));
    expect(request(one, 'a')).toEqual(assemble(one));
  });
});

/** A random session as a store may hold it: steps of either side, results late or lost, ids that both sides use. */
function anySession(random: Random): ContextMessage[] {
  const rows: ContextMessage[] = [];
  const late: ContextMessage[] = [];
  for (let step = 1; step <= 3 + random.below(15); step++) {
    if (random.chance(0.2)) rows.push(...anyWord(random));
    const role = random.pick(['assistant', 'user'] as const);
    const content = random.pick([null, '', 'text']);
    const ids = Array.from({ length: random.below(3) }, () => random.pick(['a', 'b', 'c']));
    const calls = ids.length > 0 ? someCalls(...ids.map((id) => [id, 'look'] as const)) : null;
    rows.push(aMessage({ role, content, step, tool_calls: calls }));
    for (const id of ids) {
      if (random.chance(0.1)) continue;
      (random.chance(0.8) ? rows : late).push(result(step, id, `of ${role}`));
    }
  }
  return [...rows, ...late];
}

function anyWord(random: Random): ContextMessage[] {
  const role = random.pick(['system', 'user', 'assistant'] as const);
  const orphan = result(99, 'a', 'an orphan');
  return [
    aMessage({ role, content: 'a word', silent: random.chance(0.3) }),
    ...(random.chance(0.2) ? [orphan] : []),
  ];
}

const idsOf = (messages: readonly ContextMessage[], role: string) =>
  messages.filter((message) => message.role === role).map(({ id }) => id);

describe('[runtime 4a] random sessions of two sides', () => {
  it.each(SEEDS)('show each side only its own calls, all paired (seed %i)', (seed) => {
    const random = seededRandom(seed);
    for (let round = 0; round < 100; round++) {
      const stored = anySession(random);
      for (const side of ['a', 'b'] as const) expectShown(stored, side);
    }
  });
});

function expectShown(stored: readonly ContextMessage[], side: Side): void {
  const shown = show(stored, side);
  const own = roleOf(side);
  const others = own === 'assistant' ? 'user' : 'assistant';
  // Roles: every message of its own, in order; of the other side every one with content.
  expect(idsOf(shown, 'assistant')).toEqual(idsOf(stored, own));
  const spoken = stored.filter(({ step, content }) => step === null || content === 'text');
  expect(idsOf(shown, 'user')).toEqual(idsOf(spoken, others));
  expect(idsOf(shown, 'system')).toEqual(idsOf(stored, 'system'));
  // Calls: none of the other side, and no result without a call before it.
  for (const message of shown) {
    if (message.role === 'user') expect(parseCalls(message)).toEqual([]);
    if (message.role === 'tool') expect(message.content).toBe(`of ${own}`);
  }
  let open: string[] = [];
  for (const message of shown) {
    if (message.role !== 'tool') open = callKeys(message);
    else expect(open.splice(open.indexOf(resultKey(message)), 1)).toEqual([resultKey(message)]);
  }
  // Showing the result once more to its own side changes nothing.
  expect(show(shown, 'a')).toEqual(shown);
}
