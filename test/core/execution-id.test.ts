/** Ids that senders give to executions (core/thread/execution-id.ts). */
import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { itemIdOf, selectDueItems } from '../../src/core/thread/execution-id.ts';
import { parseMessage, parseTool } from '../../src/core/thread/item.ts';
import { sha256OfAscii } from '../../src/core/value/sha256.ts';

const row = (id: string, executionId?: string, own = 0) => ({
  id,
  own,
  item: executionId ? { executionId } : {},
});
const taken = (rows: ReturnType<typeof row>[], running: boolean) =>
  selectDueItems(rows, running).map(({ id }) => id);

describe('an item with an execution id', () => {
  it.each([0, 1, 54, 55, 56, 63, 64, 65, 119, 120, 200])('has the SHA-256 of %i characters', (length) => {
    const text = 'a~!Z9'.repeat(40).slice(0, length);
    expect(sha256OfAscii(text)).toBe(createHash('sha256').update(text).digest('hex'));
  });

  it('derives its id from it, unless it has its own', () => {
    const id = `x-${createHash('sha256').update('run-1').digest('hex').slice(0, 40)}`;
    expect(itemIdOf('run-1')).toBe(id);
    expect(parseMessage({ content: 'a', executionId: 'run-1' })).toMatchObject({
      ok: true,
      value: { id, executionId: 'run-1' },
    });
    expect(parseMessage({ id: 'own', content: 'a', executionId: 'run-1' })).toMatchObject({
      value: { id: 'own' },
    });
    expect(parseTool({ name: 'look', executionId: 'run-1' })).toMatchObject({
      value: { id, executionId: 'run-1' },
    });
    for (const executionId of ['', 'a b', 'x'.repeat(201), 7])
      expect(parseMessage({ content: 'a', executionId })).toMatchObject({ ok: false });
  });

  it('waits until the thread is idle and is taken alone; items queued by the thread go first', () => {
    expect(taken([row('a'), row('b')], true)).toEqual(['a', 'b']);
    expect(taken([row('a'), row('x', 'e1'), row('b')], false)).toEqual(['a']);
    expect(taken([row('x', 'e1'), row('b')], false)).toEqual(['x']);
    expect(taken([row('x', 'e1'), row('y', 'e2')], false)).toEqual(['x']);
    expect(taken([row('x', 'e1'), row('b')], true)).toEqual([]);
    expect(taken([row('a'), row('x', 'e1'), row('b'), row('o', undefined, 1)], true)).toEqual(['a', 'o']);
    expect(taken([row('x', 'e1'), row('o', undefined, 1)], false)).toEqual(['o']);
  });
});
