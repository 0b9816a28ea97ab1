/** Context assembly (runtime §4) of random rows, as any store may hold them. */
import { describe, expect, it } from '@jest/globals';
import type { ContextMessage } from '../../src/core/context/context.ts';
import type { ProviderMessage } from '../../src/core/message/provider.ts';
import { type Random, SEEDS, seededRandom } from '../support/seeded-random.ts';
import { assemble, result, says, user } from './context-rows.ts';
import { aMessage, someCalls } from './sample.ts';

/** Random rows: results that are lost, doubled, before their calls or of other steps; ids that are used again. */
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

/** Checks what providers require: each call is followed by its result, in order. */
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

/** Converts a request's messages back to rows; each assistant message becomes a step. */
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

describe('[runtime 4] context assembly of random histories', () => {
  it.each(SEEDS)('pairs every call with one result, and is idempotent (seed %i)', (seed) => {
    const random = seededRandom(seed);
    for (let round = 0; round < 100; round++) {
      const history = anyHistory(random);
      const options = { includeChat: random.chance(0.7), includePastTools: random.chance(0.5) };
      const assembled = assemble(history, options);
      expectPaired(assembled);
      expect(assemble(history, options)).toEqual(assembled);
      expect(assemble(toRows(assembled))).toEqual(assembled);
    }
  });
});
