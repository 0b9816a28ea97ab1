/** Rows of a log without those of superseded parts. */
import { expect, it } from '@jest/globals';
import { HistoryRows } from '../../src/client/history-rows.ts';
import type { ThreadEvent } from '../../src/core/event/thread-event.ts';

const row = (seq: number, type: string, executionId?: string) =>
  ({ seq, at: seq, type, data: { executionId } }) as unknown as ThreadEvent;

it('a part that begins within an execution leaves that execution its end, and no other row', () => {
  const history = new HistoryRows(({ seq }) => seq >= 3 && seq <= 7);
  const rows = [
    row(1, 'execution.started', 'one'),
    row(2, 'step.committed'),
    row(3, 'message.created'),
    row(4, 'execution.ended', 'one'),
    row(5, 'execution.started', 'two'),
    row(6, 'execution.ended', 'two'),
    row(7, 'thread.status'),
    row(8, 'messages.superseded'),
    row(9, 'execution.started', 'three'),
    row(10, 'execution.ended', 'three'),
  ];
  expect(rows.filter((each) => history.has(each)).map(({ seq }) => seq)).toEqual([1, 2, 4, 8, 9, 10]);
});
