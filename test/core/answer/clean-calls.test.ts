/** The calls of an answer as they are stored: names, arguments and ids that the engine can rely on. */
import { describe, expect, it } from '@jest/globals';
import { cleanCalls, UNNAMED_CALL } from '../../../src/core/answer/clean-calls.ts';
import type { ProviderResponse } from '../../../src/core/message/provider.ts';
import type { ProviderToolCall } from '../../../src/core/message/provider-terms.ts';
import { LIMITS } from '../../../src/core/value/limit.ts';
import { TOOL_NAME } from '../../../src/definitions/define-tool.ts';
import { SEEDS, seededRandom } from '../../support/seeded-random.ts';

const call = (name: string, fields: Partial<ProviderToolCall> = {}): ProviderToolCall => ({
  id: `id of ${name}`,
  name,
  arguments: {},
  ...fields,
});

function clean(
  toolCalls: readonly ProviderToolCall[],
  answer: Partial<ProviderResponse> = {},
  offered: readonly string[] = ['look'],
) {
  const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
  const response: ProviderResponse = {
    content: null,
    finishReason: 'tool_calls',
    usage,
    toolCalls,
    ...answer,
  };
  return cleanCalls(response, { step: 4, offered: () => new Set(offered) });
}

describe('the calls of an answer', () => {
  it('are unchanged if there is nothing to repair', () => {
    const given = [call('look', { arguments: { a: 1 }, extraContent: { s: 1 } }), call('unknown')];
    expect(clean(given)).toEqual({
      calls: given.map((each) => ({ call: each, repairs: [] })),
      dropped: 0,
      raw: [],
    });
  });

  it('[AX-45] drop calls without a name, and trim names', () => {
    const given = ['None', ' none ', '', '  ', ' look '].map((name) => call(name));
    const { calls, dropped } = clean(given);
    expect(calls).toEqual([{ call: { ...call('look'), id: 'id of  look ' }, repairs: ['name'] }]);
    expect(dropped).toBe(4);
  });

  it('[AX-45] keep a call whose tool has that placeholder as its name', () => {
    const { calls, dropped } = clean([call('none')], {}, ['none']);
    expect([calls.map(({ call }) => call.name), dropped]).toEqual([['none'], 0]);
  });

  it('[AX-45] become one refused call if none of them has a name, and the model is told', () => {
    const { calls, dropped } = clean([call('None'), call('')], { content: 'Let me see.' });
    expect(calls).toEqual([{ call: { id: 'call_4_0', name: UNNAMED_CALL, arguments: {} }, repairs: [] }]);
    expect(dropped).toBe(2);
    expect(TOOL_NAME.test(UNNAMED_CALL)).toBe(false);
  });

  it('[AX-46] get repaired arguments, and keep the original text', () => {
    const { calls, raw } = clean([call('look', { rawArguments: '{"x":1} trailing' })]);
    expect(calls).toEqual([
      { call: { id: 'id of look', name: 'look', arguments: { x: 1 } }, repairs: ['unwrapped'] },
    ]);
    expect(raw).toEqual([
      { callId: 'id of look', id: 'id of look', name: 'look', arguments: '{"x":1} trailing' },
    ]);
  });

  it('truncate the original text they keep', () => {
    const rawArguments = `{"x":"${'y'.repeat(LIMITS.rawCallChars)}"} trailing`;
    expect(clean([call('look', { rawArguments })]).raw[0]?.arguments).toHaveLength(LIMITS.rawCallChars);
  });

  it('[AX-47] keep irreparable arguments unchanged', () => {
    const given = [call('look', { rawArguments: '{"path":"a' })];
    expect(clean(given)).toEqual({ calls: [{ call: given[0], repairs: [] }], dropped: 0, raw: [] });
  });

  it('[AX-47] are not given empty arguments if the answer was cut off before they began', () => {
    const given = [call('first'), call('last')];
    const texts = (finishReason: ProviderResponse['finishReason']) =>
      clean(given, { finishReason }).calls.map((each) => each.call.rawArguments);
    for (const reason of ['length', 'content_filter'] as const)
      expect(texts(reason)).toEqual([undefined, '{']);
    expect(texts('tool_calls')).toEqual([undefined, undefined]);
    const whole = clean([call('last', { arguments: { a: 1 } })], { finishReason: 'length' });
    expect(whole.calls[0]?.call).toEqual(call('last', { arguments: { a: 1 } }));
  });

  it('[AX-49] without ids get ids from the step and their position, the same each time', () => {
    const given = [call('look', { id: '' }), call('look', { id: 'call_4_0' }), call('look', { id: ' ' })];
    const ids = () => clean(given).calls.map((each) => each.call.id);
    expect(ids()).toEqual(['call_4_0_', 'call_4_0', 'call_4_2']);
    expect(ids()).toEqual(ids());
    expect(clean(given).raw).toEqual([]);
  });

  it('[AX-49] with equal ids get ids of their own', () => {
    const { calls, raw } = clean([call('look', { id: 'a' }), call('look', { id: 'a' })]);
    expect(calls.map((each) => [each.call.id, each.repairs])).toEqual([
      ['a', []],
      ['call_4_1', ['id']],
    ]);
    expect(raw).toEqual([{ callId: 'call_4_1', id: 'a', name: 'look', arguments: '{}' }]);
  });

  it('[AX-53] are taken from the text if there are no others', () => {
    const { calls, raw } = clean([], { content: 'look({"a":1})', finishReason: 'stop' });
    expect(calls).toEqual([
      { call: { id: 'call_4_0', name: 'look', arguments: { a: 1 } }, repairs: ['inline'] },
    ]);
    // The answer's text already holds the call as the model wrote it.
    expect(raw).toEqual([]);
    const mended = clean([], { content: '<tool_code>look({"a":1,})</tool_code>', finishReason: 'stop' });
    expect(mended.calls[0]?.repairs).toEqual(['inline', 'commas']);
    expect(mended.raw).toEqual([{ callId: 'call_4_0', id: '', name: 'look', arguments: '{"a":1,}' }]);
  });

  it('[AX-55] are not taken from the text if there are others', () => {
    const { calls } = clean([call('other')], { content: '<tool_code>look()</tool_code>' });
    expect(calls.map((each) => each.call.name)).toEqual(['other']);
  });

  it('[AX-55] are taken from the text if the others have no name', () => {
    const { calls, dropped } = clean([call('None')], { content: '<tool_code>look()</tool_code>' });
    expect(calls.map((each) => each.call.name)).toEqual(['look']);
    expect(dropped).toBe(1);
  });
});

describe('[AX-49] the calls of random answers', () => {
  it.each(SEEDS)('have names, distinct ids, and stable arguments (seed %i)', (seed) => {
    const random = seededRandom(seed);
    const wrong: unknown[] = [];
    for (let round = 0; round < 250; round++) {
      const given = Array.from({ length: random.below(8) }, () =>
        call(random.pick(['look', 'None', '', ' x ', 'look']), {
          id: random.pick(['', ' ', 'a', 'call_4_0', 'call_4_1', 'call_4_1_']),
          ...(random.chance(0.5) ? { rawArguments: random.pick(['', '{', '{"a":1} x', '[]', 'null']) } : {}),
        }),
      );
      const finishReason = random.pick(['length', 'tool_calls'] as const);
      const once = clean(given, { finishReason });
      const ids = once.calls.map((each) => each.call.id);
      const names = once.calls.map((each) => each.call.name);
      const again = clean(
        once.calls.map((each) => each.call),
        { finishReason },
      );
      if (new Set(ids).size < ids.length || ids.some((id) => id.trim() === '')) wrong.push(given);
      if (names.some((name) => name.trim() !== name || /^(none)?$/i.test(name))) wrong.push(given);
      if (given.length > 0 && once.calls.length === 0) wrong.push(given);
      if (
        JSON.stringify(again.calls.map((each) => each.call)) !==
        JSON.stringify(once.calls.map((each) => each.call))
      )
        wrong.push(given);
    }
    expect(wrong).toEqual([]);
  });
});
