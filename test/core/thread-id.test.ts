/** Generated thread ids contain the name of their agent, and cannot be guessed. */
import { describe, expect, it } from '@jest/globals';
import { newThreadId } from '../../src/client/new-thread-id.ts';
import { isThreadId } from '../../src/core/thread/start-input.ts';
import { deriveThreadId, isMadeId, makeThreadId } from '../../src/core/thread/thread-id.ts';

const HEX = 'ffffffffffffffffffff';

describe('the id of a new thread', () => {
  it('is its agent name and 80 random bits', () => {
    expect(newThreadId('refund_desk')).toMatch(/^refund_desk-[0-9a-hjkmnp-tv-z]{16}$/);
    expect(makeThreadId('a', new Uint8Array(10))).toBe(`a-${'0'.repeat(16)}`);
    expect(deriveThreadId('a', HEX)).toBe(`a-${'z'.repeat(16)}`);
    expect(deriveThreadId('a', `00000000000000000001${HEX}`)).toBe(`a-${'0'.repeat(15)}1`);
    expect(new Set(Array.from({ length: 1000 }, () => newThreadId('a'))).size).toBe(1000);
  });

  it.each(['Der Käufer', '-x-', '__', 'a/b:c', '日本', 'a'.repeat(128), ''])(
    'is valid for any agent name: %j',
    (agent) => {
      const id = newThreadId(agent);
      expect([id, isThreadId(id), isMadeId(id)]).toEqual([id, true, true]);
    },
  );

  it('is distinguished from its prefixes', () => {
    const id = newThreadId('helper');
    expect(isMadeId(id)).toBe(true);
    for (let length = 1; length < id.length; length++) expect(isMadeId(id.slice(0, length))).toBe(false);
  });
});
