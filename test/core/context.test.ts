/** Context assembly (runtime §4): each call with its result, whatever the store went through. */
import { describe, expect, it } from '@jest/globals';
import {
  assembleMessages,
  type ContextInput,
  type ContextMessage,
  parseArguments,
  toProviderCall,
} from '../../src/core/context.ts';
import type { ProviderMessage } from '../../src/core/provider.ts';
import { aMessage, someCalls } from './sample.ts';
import { type Random, SEEDS, seededRandom } from './seeded-random.ts';

function assemble(
  messages: readonly ContextMessage[],
  options: Partial<ContextInput> = {},
): ProviderMessage[] {
  return assembleMessages({
    system: '',
    messages,
    executionId: 'now',
    includeChat: true,
    includePastTools: true,
    ...options,
  });
}

/** One line a message: enough to see order and pairing. */
function lines(messages: readonly ProviderMessage[]): string[] {
  return messages.map((message) => {
    if (message.role === 'tool') return `tool ${message.toolCallId}: ${message.content}`;
    const asked =
      message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => ` ->${id}`).join('') : '';
    return `${message.role}: ${message.content ?? ''}${asked}`;
  });
}

const user = (content: string, fields: Partial<ContextMessage> = {}) =>
  aMessage({ role: 'user', content, ...fields });
const says = (content: string | null, fields: Partial<ContextMessage> = {}) =>
  aMessage({ role: 'assistant', content, ...fields });
const asks = (step: number, callIds: readonly string[], fields: Partial<ContextMessage> = {}) =>
  says(null, { step, tool_calls: someCalls(...callIds.map((id) => [id, 'look'] as const)), ...fields });
const result = (step: number, callId: string, content: string, fields: Partial<ContextMessage> = {}) =>
  aMessage({
    role: 'tool',
    name: 'look',
    content,
    step,
    tool_call_id: callId,
    tool_status: 'success',
    ...fields,
  });

const MISSING = 'Failed to execute tool: no result was recorded for this call.';

describe('[runtime 4] context assembly', () => {
  it('begins with the system text, and without one where there is none', () => {
    expect(lines(assemble([user('hi')], { system: 'You help.' }))).toEqual(['system: You help.', 'user: hi']);
    expect(lines(assemble([user('hi')]))).toEqual(['user: hi']);
  });

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

  it('puts results right behind their calls, in call order, though messages arrived in between', () => {
    const stored = [asks(1, ['a', 'b']), user('by the way'), result(1, 'b', 'B'), result(1, 'a', 'A')];
    expect(lines(assemble(stored))).toEqual([
      'assistant:  ->a ->b',
      'tool a: A',
      'tool b: B',
      'user: by the way',
    ]);
  });

  it('makes up the result that is missing', () => {
    expect(lines(assemble([asks(1, ['a', 'b']), result(1, 'b', 'B')]))).toEqual([
      'assistant:  ->a ->b',
      `tool a: ${MISSING}`,
      'tool b: B',
    ]);
  });

  it('drops a result whose call is not there', () => {
    const stored = [
      user('hi'),
      result(1, 'a', 'A'),
      asks(2, ['b']),
      result(2, 'b', 'B'),
      result(2, 'c', 'C'),
    ];
    expect(lines(assemble(stored))).toEqual(['user: hi', 'assistant:  ->b', 'tool b: B']);
  });

  it('tells the same call id of two steps apart', () => {
    const stored = [asks(1, ['a']), result(1, 'a', 'first'), asks(2, ['a']), result(2, 'a', 'second')];
    expect(lines(assemble(stored))).toEqual([
      'assistant:  ->a',
      'tool a: first',
      'assistant:  ->a',
      'tool a: second',
    ]);
  });

  it('gives each of two calls with one id its own result', () => {
    expect(lines(assemble([asks(1, ['a', 'a']), result(1, 'a', 'one'), result(1, 'a', 'two')]))).toEqual([
      'assistant:  ->a ->a',
      'tool a: one',
      'tool a: two',
    ]);
  });

  it('finds the result that another execution stored', () => {
    const stored = [asks(1, ['a']), result(1, 'a', 'A', { executionId: 'other' })];
    expect(lines(assemble(stored, { includeChat: false }))).toEqual(['assistant:  ->a', 'tool a: A']);
  });

  it('drops an assistant message that says nothing and asks for nothing', () => {
    expect(lines(assemble([user('hi'), says(null), says('  '), says('yes')]))).toEqual([
      'user: hi',
      'assistant: yes',
    ]);
  });

  it('gives calls with parsed arguments, and malformed ones with their text', () => {
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

describe('what the prompt includes', () => {
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

  it('is everything with includeChat and includePastTools', () => {
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

  it("[definitions 22.7] is the current execution's calls alone without includePastTools", () => {
    expect(lines(assemble(stored, { includePastTools: false }))).toEqual([
      'user: old',
      'assistant: let me look',
      'assistant: old answer',
      ...current,
    ]);
  });

  it.each([true, false])(
    '[definitions 22.8] is the current execution alone without includeChat, with includePastTools %j',
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

  it("keep the model's own text where it is no object", () => {
    const call = { id: 'a', type: 'function', function: { name: 'look', arguments: 'no' } } as const;
    expect(toProviderCall(call)).toEqual({ id: 'a', name: 'look', arguments: {}, rawArguments: 'no' });
  });
});

/** Any rows at all: results lost, doubled, before their calls, of other steps; ids used again. */
function anyHistory(random: Random): ContextMessage[] {
  return Array.from({ length: 5 + random.below(30) }, () => anyMessage(random));
}

function anyMessage(random: Random): ContextMessage {
  const executionId = random.pick(['now', 'before', null]);
  const step = random.pick([null, 1, 2, 3, 4]);
  const callId = () => random.pick(['a', 'b', 'c', '']);
  const content = random.pick([null, '', ' ', 'text']);
  switch (random.pick(['system', 'user', 'assistant', 'asks', 'tool', 'tool'] as const)) {
    case 'system':
      return aMessage({ role: 'system', content, executionId });
    case 'user':
      return user(content ?? 'hi', { executionId });
    case 'assistant':
      return says(content, { executionId, step });
    case 'asks': {
      const calls = Array.from({ length: random.below(4) }, () => [callId(), 'look'] as const);
      return says(content, { executionId, step, tool_calls: someCalls(...calls) });
    }
    case 'tool':
      return aMessage({
        role: 'tool',
        name: 'look',
        content: 'out',
        tool_call_id: callId(),
        executionId,
        step,
      });
  }
}

/** What a provider insists on. */
function expectPaired(messages: readonly ProviderMessage[]): void {
  let owed: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      expect(message.toolCallId).toBe(owed.shift());
      continue;
    }
    expect(owed).toEqual([]);
    owed = message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => id) : [];
  }
  expect(owed).toEqual([]);
}

/** A request's messages as rows again; each assistant message is a step. */
function toRows(messages: readonly ProviderMessage[]): ContextMessage[] {
  let step = 0;
  return messages.map((message) => {
    const content = message.content as string | null;
    switch (message.role) {
      case 'tool':
        return result(step, message.toolCallId, content ?? '');
      case 'assistant': {
        step += 1;
        const calls = (message.toolCalls ?? []).map(
          ({ id, name, arguments: args, rawArguments }) =>
            [id, name, rawArguments ?? JSON.stringify(args)] as const,
        );
        return says(content, { step, tool_calls: calls.length > 0 ? someCalls(...calls) : null });
      }
      default:
        return aMessage({ role: message.role, content });
    }
  });
}

describe('[runtime 4] context assembly of any history', () => {
  it.each(SEEDS)(
    'pairs every call with one result, and stays the same when assembled again (seed %i)',
    (seed) => {
      const random = seededRandom(seed);
      for (let round = 0; round < 100; round++) {
        const history = anyHistory(random);
        const options = { includeChat: random.chance(0.7), includePastTools: random.chance(0.5) };
        const assembled = assemble(history, options);
        expectPaired(assembled);
        expect(assemble(history, options)).toEqual(assembled);
        expect(assemble(toRows(assembled))).toEqual(assembled);
      }
    },
  );
});
