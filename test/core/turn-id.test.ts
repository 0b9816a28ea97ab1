/** Ids of turns. */
import { describe, expect, it } from '@jest/globals';
import { deriveExecutionId, isExecutionId } from '../../src/core/thread/execution-id.ts';

const of = (projectId: string, sessionId: string, turnIndex = 0) =>
  deriveExecutionId({ projectId, sessionId, turnIndex });

describe('the id of a turn', () => {
  it('is readable, and deterministic from its parts', () => {
    expect(of('tax', 'session-7', 12)).toBe('tax:session-7:12');
  });

  it('[TG-19] is unambiguous if a part contains the separator or any other character', () => {
    const ids = [of('a:b', 'c'), of('a', 'b:c'), of('a%3Ab', 'c'), of('a', 'b', 0), of('ä b', '日本/1')];
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !isExecutionId(id))).toEqual([]);
  });

  it.each([
    ['', 'b', 0],
    ['a', ' ', 0],
    ['a', 'b', -1],
    ['a', 'b', 1.5],
    ['a', '\ud800', 0],
    ['a', 'b'.repeat(200), 0],
  ])('is refused for %j, %j and %j', (projectId, sessionId, turnIndex) => {
    expect(() => of(projectId, sessionId, turnIndex)).toThrow(
      expect.objectContaining({ code: 'InvalidValue' }),
    );
  });
});
