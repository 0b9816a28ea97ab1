/** Which ids an AG-UI client is sent. */
import { describe, expect, it } from '@jest/globals';
import { readGivenIds, toAgUiItemId } from '../../../src/server/api/ag-ui/given-ids.ts';

describe('the ids known to an AG-UI client', () => {
  it('are sent once each, even if a model reuses the id of a call', () => {
    const ids = readGivenIds([
      { id: 'ü', role: 'user' },
      { id: 'b', role: 'assistant', toolCalls: [{ id: 'call_0' }] },
      { id: 'mine', role: 'tool', toolCallId: 'call_0' },
    ]);
    const stored = [
      { id: toAgUiItemId('ü'), tool_call_id: null },
      { id: 'b', tool_call_id: null },
      { id: 'r-1', tool_call_id: 'call_0' },
      { id: 'r-2', tool_call_id: 'call_0' },
    ];
    expect(ids.ofMessages(stored)).toEqual(['ü', 'b', 'mine', 'r-2']);
    expect([ids.ofResult('r-1', 'call_0'), ids.ofResult('r-2', 'call_0')]).toEqual(['mine', 'r-2']);
  });

  it('do not cover the result of a new call that has the id of an earlier one', () => {
    const ids = readGivenIds([
      { id: 'b', role: 'assistant', toolCalls: [{ id: 'call_0' }] },
      { id: 'r-1', role: 'tool', toolCallId: 'call_0' },
      { id: 'c', role: 'assistant' },
      { id: 'd', role: 'user' },
    ]);
    expect(ids.ofResult('r-2', 'call_0')).toBe('r-2');
  });
});
