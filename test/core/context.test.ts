/** Context assembly (runtime §4): each call is followed by its result, whatever rows the store holds. */
import { describe, expect, it } from '@jest/globals';
import { NO_RESULT } from '../../src/core/context/sanitise.ts';
import { parseArguments, toProviderCall } from '../../src/core/message/tool-call.ts';
import { asks, assemble, lines, result, says, user } from './context-rows.ts';
import { aMessage, someCalls } from './sample.ts';

describe('[runtime 4] context assembly', () => {
  it('keeps the order of the stored messages', () => {
    const stored = [
      aMessage({ role: 'system', content: 'Be brief.' }),
      user('one'),
      says('two'),
      user('three'),
    ];
    expect(lines(assemble(stored))).toEqual([
      'system: Be brief.',
      'user: one',
      'assistant: two',
      'user: three',
    ]);
  });

  it('places results right after their calls, in call order, even if messages arrived in between', () => {
    const stored = [asks(1, ['a', 'b']), user('by the way'), result(1, 'b', 'B'), result(1, 'a', 'A')];
    expect(lines(assemble(stored))).toEqual([
      'assistant:  ->a ->b',
      'tool a: A',
      'tool b: B',
      'user: by the way',
    ]);
  });

  it('adds a missing result', () => {
    expect(lines(assemble([asks(1, ['a', 'b']), result(1, 'b', 'B')]))).toEqual([
      'assistant:  ->a ->b',
      `tool a: ${NO_RESULT}`,
      'tool b: B',
    ]);
  });

  it('drops a result without a call', () => {
    const stored = [
      user('hi'),
      result(1, 'a', 'A'),
      asks(2, ['b']),
      result(2, 'b', 'B'),
      result(2, 'c', 'C'),
    ];
    expect(lines(assemble(stored))).toEqual(['user: hi', 'assistant:  ->b', 'tool b: B']);
  });

  it('separates equal call ids of two steps', () => {
    const stored = [asks(1, ['a']), result(1, 'a', 'first'), asks(2, ['a']), result(2, 'a', 'second')];
    expect(lines(assemble(stored))).toEqual([
      'assistant:  ->a',
      'tool a: first',
      'assistant:  ->a',
      'tool a: second',
    ]);
  });

  it('gives each of two calls with one id its own result and a distinct id', () => {
    expect(lines(assemble([asks(1, ['a', 'a']), result(1, 'a', 'one'), result(1, 'a', 'two')]))).toEqual([
      'assistant:  ->a ->a_2',
      'tool a: one',
      'tool a_2: two',
    ]);
  });

  it('finds a result stored by another execution', () => {
    const stored = [asks(1, ['a']), result(1, 'a', 'A', { executionId: 'other' })];
    expect(lines(assemble(stored, { includeChat: false }))).toEqual(['assistant:  ->a', 'tool a: A']);
  });

  it('drops an assistant message without text and calls', () => {
    expect(lines(assemble([user('hi'), says(null), says('  '), says('yes')]))).toEqual([
      'user: hi',
      'assistant: yes',
    ]);
  });

  it('[definitions 15.3] keeps silent messages', () => {
    expect(lines(assemble([user('told quietly', { silent: true })]))).toEqual(['user: told quietly']);
  });

  it.each(['{', '7', '[null, 7, {}, {"id":"a"}]', '[{"id":1,"function":{}}]'])(
    'ignores invalid calls such as %j',
    (calls) => {
      expect(lines(assemble([says('so', { tool_calls: calls })]))).toEqual(['assistant: so']);
    },
  );

  it('parses arguments of calls, and keeps malformed ones as text', () => {
    const stored = says('so', {
      step: 1,
      tool_calls: someCalls(['a', 'look', '{"at":1}'], ['b', 'look', '{"at":']),
    });
    expect(assemble([stored])[0]).toEqual({
      role: 'assistant',
      content: 'so',
      toolCalls: [
        { id: 'a', name: 'look', arguments: { at: 1 } },
        { id: 'b', name: 'look', arguments: {}, rawArguments: '{"at":' },
      ],
    });
  });
});

describe('the messages included by the prompt', () => {
  const past = { executionId: 'before' };
  const stored = [
    user('old', past),
    says('let me look', { ...past, step: 1, tool_calls: someCalls(['a', 'look']) }),
    result(1, 'a', 'A', past),
    asks(2, ['b'], past),
    result(2, 'b', 'B', past),
    says('old answer', past),
    user('new'),
    asks(3, ['c']),
    result(3, 'c', 'C'),
  ];
  const current = ['user: new', 'assistant:  ->c', 'tool c: C'];

  it('are all messages with includeChat and includePastTools', () => {
    expect(lines(assemble(stored))).toEqual([
      'user: old',
      'assistant: let me look ->a',
      'tool a: A',
      'assistant:  ->b',
      'tool b: B',
      'assistant: old answer',
      ...current,
    ]);
  });

  it('[definitions 22.7] have only the current execution’s calls without includePastTools', () => {
    expect(lines(assemble(stored, { includePastTools: false }))).toEqual([
      'user: old',
      'assistant: let me look',
      'assistant: old answer',
      ...current,
    ]);
  });

  it.each([true, false])(
    '[definitions 22.8] are only the current execution’s without includeChat, with includePastTools %j',
    (includePastTools) => {
      expect(lines(assemble(stored, { includeChat: false, includePastTools }))).toEqual(current);
    },
  );
});

describe('arguments of a call', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ['', {}],
    ['  ', {}],
    ['[]', undefined],
    ['null', undefined],
    ['7', undefined],
    ['"text"', undefined],
    ['{"a":', undefined],
  ])('%j are %j', (text, parsed) => {
    expect(parseArguments(text)).toEqual(parsed);
  });

  it('keep the original text if it is not an object', () => {
    const call = { id: 'a', type: 'function', function: { name: 'look', arguments: 'no' } } as const;
    expect(toProviderCall(call)).toEqual({ id: 'a', name: 'look', arguments: {}, rawArguments: 'no' });
  });
});
