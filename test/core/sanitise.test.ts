/** Histories of threads, imports and hooks (definitions §12.2), sanitised so that providers accept them. */
import { describe, expect, it } from '@jest/globals';
import { NO_RESULT, sanitiseHistory } from '../../src/core/context/sanitise.ts';
import { fromLLMMessages, type LLMMessage, toLLMMessage } from '../../src/core/message/llm-message.ts';
import type { ProviderMessage } from '../../src/core/message/provider.ts';
import { type Random, SEEDS, seededRandom } from '../support/seeded-random.ts';

const asks = (...ids: string[]): ProviderMessage => ({
  role: 'assistant',
  content: null,
  toolCalls: ids.map((id) => ({ id, name: 'look', arguments: {} })),
});
const answers = (toolCallId: string, content = `result ${toolCallId}`): ProviderMessage => ({
  role: 'tool',
  toolCallId,
  toolName: 'look',
  content,
});
const user = (content: string): ProviderMessage => ({ role: 'user', content });

describe('[definitions 12.2] tool sequences', () => {
  it.each<[string, ProviderMessage[], ProviderMessage[]]>([
    ['keep what is whole', [asks('a'), answers('a')], [asks('a'), answers('a')]],
    [
      'get the result that is missing',
      [asks('a'), user('x')],
      [asks('a'), answers('a', NO_RESULT), user('x')],
    ],
    ['lose an orphan', [user('x'), answers('a')], [user('x')]],
    ['lose a second result', [asks('a'), answers('a'), answers('a', 'again')], [asks('a'), answers('a')]],
    [
      'have results right behind their calls, in call order',
      [asks('a', 'b'), user('x'), answers('b'), answers('a')],
      [asks('a', 'b'), answers('a'), answers('b'), user('x')],
    ],
    [
      'give a result to the last call before it that has its id',
      [asks('a'), asks('a'), answers('a')],
      [asks('a'), answers('a', NO_RESULT), asks('a'), answers('a')],
    ],
    [
      'lose a result that stands before its call',
      [answers('a'), asks('a')],
      [asks('a'), answers('a', NO_RESULT)],
    ],
    [
      'give two calls with one id a result each, and an id each',
      [asks('a', 'a', 'a_2'), answers('a', 'one'), answers('a', 'two'), answers('a_2', 'three')],
      [asks('a', 'a_3', 'a_2'), answers('a', 'one'), answers('a_3', 'two'), answers('a_2', 'three')],
    ],
    [
      'lose calls and results without an id',
      [asks('', 'a', ' '), answers(''), answers('a'), answers(' ')],
      [asks('a'), answers('a')],
    ],
  ])('%s', (_, given, expected) => {
    expect(sanitiseHistory(given)).toEqual(expected);
  });

  it('[AX-10] drop a result whose call is missing or follows it', () => {
    expect(sanitiseHistory([answers('a'), user('x'), answers('b'), asks('a')])).toEqual([
      user('x'),
      asks('a'),
      answers('a', NO_RESULT),
    ]);
  });

  it('[AX-11] keep the text of an unanswered call, and add that it has no result', () => {
    const said = { ...asks('a'), content: 'Let me look.' } as ProviderMessage;
    expect(sanitiseHistory([said, user('and?')])).toEqual([said, answers('a', NO_RESULT), user('and?')]);
    const nameless = { ...asks(''), content: 'Let me look.' } as ProviderMessage;
    expect(sanitiseHistory([nameless])).toEqual([{ role: 'assistant', content: 'Let me look.' }]);
  });

  it('[AX-12] keep the results of a batch that lacks one', () => {
    expect(sanitiseHistory([asks('a', 'b', 'c'), answers('c'), answers('a')])).toEqual([
      asks('a', 'b', 'c'),
      answers('a'),
      answers('b', NO_RESULT),
      answers('c'),
    ]);
  });

  it('[AX-13] have no reminder between a call and its result', () => {
    const reminder = user('Have you looked at your list?');
    expect(sanitiseHistory([asks('a', 'b'), reminder, answers('a'), reminder, answers('b')])).toEqual([
      asks('a', 'b'),
      answers('a'),
      answers('b'),
      reminder,
      reminder,
    ]);
  });

  it('[AX-15] have no keys outside the provider contract', () => {
    const note = { _note: 'internal' };
    const clean = everything.map((message) => structuredClone(message));
    const noted = everything.map((message) => {
      const { content, toolCalls, attachments } = message as Partial<Record<string, unknown>>;
      const within = (list: unknown) => (list as object[]).map((each) => ({ ...each, ...note }));
      return {
        ...message,
        ...note,
        ...(Array.isArray(content) ? { content: within(content) } : {}),
        ...(toolCalls ? { toolCalls: within(toolCalls) } : {}),
        ...(attachments ? { attachments: within(attachments) } : {}),
      } as ProviderMessage;
    });
    expect(JSON.stringify(noted)).toContain('_note');
    expect(sanitiseHistory(noted)).toEqual(sanitiseHistory(clean));
    expect(JSON.stringify(sanitiseHistory(noted))).not.toContain('_note');
    expect(sanitiseHistory([{ role: 'oracle', content: 'x' } as never, user('hi')])).toEqual([user('hi')]);
  });

  it('are sanitised in time linear in the history, also if all calls share one id', () => {
    let reads = 0;
    const counted = (message: ProviderMessage): ProviderMessage =>
      Object.defineProperty({ ...message }, 'role', {
        enumerable: true,
        get: () => {
          reads += 1;
          return message.role;
        },
      });
    const readsOf = (rounds: number) => {
      reads = 0;
      const batch = Array.from({ length: 100 }, (_, index) => `c${index % 50}`);
      const round = [
        asks('a'),
        answers('a'),
        answers('a'),
        asks(...batch),
        ...batch.map((id) => answers(id)),
      ];
      const history = Array.from({ length: rounds }, () => round).flat();
      expect(sanitiseHistory(history.map(counted))).toHaveLength(rounds * 103);
      return reads;
    };
    // Histories of 20,600 and of 10,300 messages.
    expect(readsOf(200)).toBe(2 * readsOf(100));
  });

  it('name the tool of the call, whatever the result names', () => {
    const [, result] = sanitiseHistory([asks('a'), { ...answers('a'), toolName: '' } as ProviderMessage]);
    expect(result).toMatchObject({ toolName: 'look', content: 'result a' });
  });

  it('drop assistant messages without text and calls', () => {
    const empty = (content: string | null, rest = {}): ProviderMessage => ({
      role: 'assistant',
      content,
      ...rest,
    });
    const given = [user(''), empty(null), empty(' '), empty('', { toolCalls: [] }), empty('x')];
    expect(sanitiseHistory(given)).toEqual([user(''), empty('x')]);
  });
});

const everything: ProviderMessage[] = [
  { role: 'system', content: 'Be brief.' },
  user('hi'),
  {
    role: 'user',
    content: [
      { type: 'text', text: 'look' },
      { type: 'image', data: 'aGk=', mediaType: 'image/png', detail: 'low' },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      { type: 'file', data: 'aGk=', mediaType: 'application/pdf', filename: 'a.pdf' },
    ],
  },
  {
    role: 'assistant',
    content: 'so',
    reasoning: 'hm',
    toolCalls: [
      { id: 'a', name: 'look', arguments: { at: { deep: [1, null, 'x'] } } },
      { id: 'b', name: 'look', arguments: {}, rawArguments: '{"at":' },
    ],
  },
  {
    ...answers('a'),
    attachments: [{ type: 'image', data: 'aGk=', mediaType: 'image/png' }],
  } as ProviderMessage,
  answers('b'),
  { role: 'assistant', content: null, toolCalls: [{ id: 'c', name: 'look', arguments: {} }] },
  { role: 'assistant', content: 'done' },
];

describe('[definitions 9] the history passed to a hook', () => {
  it('is unchanged if the hook does not change it', () => {
    const seen = everything.map(toLLMMessage);
    expect(fromLLMMessages(structuredClone(seen), [])).toEqual({ messages: everything, problems: [] });
  });

  it('has the shape of chat messages', () => {
    expect(everything.map(toLLMMessage).slice(3, 5)).toEqual([
      {
        role: 'assistant',
        content: 'so',
        reasoning: 'hm',
        tool_calls: [
          {
            id: 'a',
            type: 'function',
            function: { name: 'look', arguments: '{"at":{"deep":[1,null,"x"]}}' },
          },
          { id: 'b', type: 'function', function: { name: 'look', arguments: '{"at":' } },
        ],
      },
      {
        role: 'tool',
        tool_call_id: 'a',
        name: 'look',
        content: [
          { type: 'text', text: 'result a' },
          { type: 'image', data: 'aGk=', mediaType: 'image/png' },
        ],
      },
    ]);
  });

  it.each<[string, unknown, RegExp]>([
    ['an unknown role', { role: 'oracle', content: 'x' }, /its role must be/],
    ['a role that JSON does not have', { role: 7n, content: 'x' }, /its role must be/],
    ['no role', { content: 'x' }, /its role must be/],
    ['a content of numbers', { role: 'user', content: 7 }, /content must be/],
    [
      'a part of an unknown type',
      { role: 'user', content: [{ type: 'video', url: 'x' }] },
      /content must be/,
    ],
    ['an image without data', { role: 'user', content: [{ type: 'image' }] }, /content must be/],
    ['calls that are none', { role: 'assistant', content: 'x', tool_calls: [{ id: 'a' }] }, /tool_calls/],
    ['a result of no call', { role: 'tool', content: 'x' }, /tool_call_id/],
    ['null', null, /not an object/],
  ])('drops a message with %s, and reports it', (_, bad, problem) => {
    const { messages, problems } = fromLLMMessages([{ role: 'user', content: 'good' }, bad], []);
    expect(messages).toEqual([user('good')]);
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });

  it.each([undefined, null, 'text', {}, [], [{ role: 'oracle' }]])(
    'is kept unchanged if a hook returns %j',
    (given) => {
      const { messages, problems } = fromLLMMessages(given, everything);
      expect(messages).toBe(everything);
      expect(problems.length).toBeGreaterThan(0);
    },
  );
});

/** Random histories that no provider accepts, made of pieces that look valid. */
function anyHistory(random: Random): unknown[] {
  const id = () => random.pick(['a', 'b', 'c', '']);
  const call = () => ({
    id: id(),
    type: 'function',
    function: { name: 'look', arguments: random.pick(['{}', '{', '']) },
  });
  return Array.from({ length: 1 + random.below(25) }, (): unknown => {
    const content = random.pick([null, '', 'text', [{ type: 'text', text: 'part' }], 7]);
    switch (random.below(6)) {
      case 0:
        return { role: 'tool', content, tool_call_id: random.pick([id(), undefined, 7]), name: 'look' };
      case 1:
        return { role: 'tool', content: 'out', tool_call_id: id(), name: 'look' };
      case 2:
        return { role: 'assistant', content, tool_calls: Array.from({ length: random.below(4) }, call) };
      case 3:
        return { role: random.pick(['system', 'user', 'assistant', 'oracle']), content };
      case 4:
        return random.pick([null, 7, 'text', [], {}]);
      default:
        return { role: 'user', content: 'hi' };
    }
  });
}

/** Rounds per seed: 10,000 in all. */
const ROUNDS = 1250;

describe('[runtime 4] random histories returned by a hook', () => {
  it.each(SEEDS)('[AX-14] are paired, without orphans, and sanitising is idempotent (seed %i)', (seed) => {
    const random = seededRandom(seed);
    for (let round = 0; round < ROUNDS; round++) {
      const { messages } = fromLLMMessages(anyHistory(random), [user('before')]);
      const given = structuredClone(messages);
      const sent = sanitiseHistory(messages);
      expect(messages).toEqual(given);
      expect(problemsOf(sent)).toEqual([]);
      expect(sanitiseHistory(sent)).toEqual(sent);
      const again = sent.map(toLLMMessage) as readonly LLMMessage[];
      expect(fromLLMMessages(structuredClone(again), []).messages).toEqual(sent);
    }
  });
});

/** Returns the reasons for which a provider would refuse a request. */
function problemsOf(messages: readonly ProviderMessage[]): string[] {
  const problems: string[] = [];
  let owed: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      if (message.toolCallId !== owed.shift()) problems.push(`an orphan, ${message.toolCallId}`);
      continue;
    }
    if (owed.length > 0) problems.push(`no result for ${owed}`);
    owed = message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => id) : [];
    if (new Set(owed).size < owed.length) problems.push(`one id twice: ${owed}`);
    if (owed.some((id) => id.trim() === '')) problems.push('a call without an id');
    if (message.role === 'assistant' && owed.length === 0 && !message.content?.trim())
      problems.push('a message that says nothing');
  }
  return owed.length > 0 ? [...problems, `no result for ${owed}`] : problems;
}
