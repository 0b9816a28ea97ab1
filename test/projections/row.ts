/** Rows of a log as a run leaves them, for tests of projections. */
import type { ThreadEvent } from '../../src/core/event/thread-event.ts';
import type { LogRow } from '../../src/projections/projection.ts';
import type { RunEvent } from '../../src/projections/run/run-event.ts';
import { projectRun } from '../../src/projections/run/run-projection.ts';
import { beginReading } from '../../src/projections/run/run-state.ts';

export type Row = readonly [
  type: string,
  data: object,
  more?: Partial<LogRow> & { step?: number; attempt?: number },
];

/** Numbered from 1, a millisecond apart; accepts kinds that only some features write. */
export function rowsOf(...rows: readonly Row[]): LogRow[] {
  return rows.map(([type, data, { step, attempt = 1, ...more } = {}], n) => ({
    event: {
      seq: n + 1,
      at: 1_700_000_000_000_000 + n * 1000,
      type,
      data,
      ...(step === undefined ? {} : { step, attempt }),
    } as unknown as ThreadEvent,
    ...more,
  }));
}

export function read(rows: readonly LogRow[]): RunEvent[] {
  let reading = beginReading({ threadId: 'thread-1', agent: 'desk', after: (rows[0]?.event.seq ?? 1) - 1 });
  return rows.flatMap((row) => {
    const [next, events] = projectRun(reading, row);
    reading = next;
    return events;
  });
}
